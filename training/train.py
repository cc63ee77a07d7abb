"""Train a LoRA adapter for the built-in model on conversations; needs a GPU for more than a trial.

`python -m training.train FOLDER --data data.jsonl.gz --steps 1000 --minutes 8.5 --out adapter.npz` reads what
`prepare.py` wrote to the folder. Each line of the data is one conversation in the model's own format, a list
of `[text, trained]`; only the texts marked as trained are learnt. Several conversations share a row of
`--batch-tokens` tokens, and none sees another. The learning rate reaches its end after `--steps` steps or
`--minutes` minutes, whichever comes first. The same data and seed give the same adapter, up to the rounding
of the GPU, unless the time ends the training.
"""

import argparse
import gzip
import json
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.model import Adapter, Model, Row
from training.weights import WeightsError, join_parts, read_gguf

RANK = 64  # the largest whose GGUF file stays below 16,000,000 bytes
WARM_UP, LAST_RATE = 0.03, 0.05  # shares of the training, and of the highest learning rate
HELD_OUT = 100  # one conversation of so many is held out
REPORT_STEPS = 20
FINISH_S = 10.0  # kept of the time for the held-out loss and the last file
LINES_PER_TASK = 256

Tokens = tuple[NDArray[np.uint16], NDArray[np.bool_], list[int]]


@dataclass(frozen=True)
class Corpus:
    """All conversations one after the other: their tokens, which are learnt, and where each starts."""

    tokens: NDArray[np.uint16]
    trained: NDArray[np.bool_]
    starts: NDArray[np.int64]  # and the end of the last one

    def __len__(self) -> int:
        return len(self.starts) - 1

    def length(self, number: int) -> int:
        """Return the number of tokens of a conversation."""
        return int(self.starts[number + 1] - self.starts[number])


@dataclass
class Progress:
    """How much of the training is done, from 0 to 1: by steps or by time, whichever is further."""

    steps: int
    seconds: float
    started: float = field(default_factory=time.monotonic)
    done: int = 0

    @property
    def elapsed(self) -> float:
        """Return the seconds since the training started."""
        return time.monotonic() - self.started

    @property
    def share(self) -> float:
        """Return the share of the training that is done."""
        return min(1.0, max(self.done / self.steps, self.elapsed / self.seconds))


def main() -> None:
    """Train, and write the adapter."""
    started = time.monotonic()
    args = _parse()
    corpus = read_corpus(args.data, args.folder / "tokenizer.json", args.context, args.processes)
    if not len(corpus):
        sys.exit("error: the data holds no conversations")
    seconds = time.monotonic() - started
    print(
        f"{len(corpus):,} conversations, {len(corpus.tokens):,} tokens, {seconds:.0f} s to read", flush=True
    )
    try:
        model = Model(read_gguf(join_parts(args.folder)), "cuda" if torch.cuda.is_available() else "cpu")
    except WeightsError as error:
        sys.exit(f"error: {error}")
    if args.compile:
        model.compile()
    train(model, corpus, args, started + args.minutes * 60 - FINISH_S)
    print(f"{time.monotonic() - started:.0f} s in all", flush=True)


def train(model: Model, corpus: Corpus, args: argparse.Namespace, deadline: float) -> None:
    """Train an adapter until the steps or the time are used up, and write it at every quarter."""
    generator = np.random.default_rng(args.seed)
    order = generator.permutation(len(corpus))
    held_out, learnt = np.split(order, [len(corpus) // HELD_OUT])
    around = endless(learnt, generator)
    rows = make_rows(corpus, around, args.batch_tokens, model.device)
    adapter = model.new_adapter(args.rank, args.alpha, args.seed)
    optimizer = torch.optim.AdamW(adapter.parameters(), betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    first = next(rows)
    model.loss(first, adapter).backward()  # loads and compiles what the GPU needs, before the time counts
    report = Report(args.log)
    progress = Progress(args.steps, max(1.0, deadline - time.monotonic()))
    saved = 0
    for row in chain([first], rows):
        rate = args.lr * rate_at(progress)
        loss = step(model, adapter, optimizer, row, rate)
        progress.done += 1
        report.add(progress, loss, sum(row.lengths), rate)
        if (quarter := int(progress.share * 4)) > saved:
            save(adapter, args)
            saved = quarter
        if saved == 4:
            break
    rows = make_rows(corpus, held_out, args.batch_tokens, model.device)
    report.end(progress, mean_loss(model, adapter, rows))


def step(model: Model, adapter: Adapter, optimizer: Any, row: Row, rate: float) -> torch.Tensor:
    """Improve the adapter by one row, and return the loss before."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss = model.loss(row, adapter)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(adapter.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def rate_at(progress: Progress) -> float:
    """Return the share of the highest learning rate: a short rise, then a cosine down to the last rate."""
    share = max(progress.share, (progress.done + 1) / progress.steps)
    if share < WARM_UP:
        return share / WARM_UP
    rest = min(1.0, (share - WARM_UP) / (1 - WARM_UP))
    return LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * rest)) / 2


class Report:
    """Prints how the training goes, and writes it to a file of JSON lines if one is named."""

    def __init__(self, log: Path | None) -> None:
        self._log = log
        self._losses: list[Any] = []
        self._tokens = 0
        self._since = 0.0
        if log:
            log.write_text("")

    def add(self, progress: Progress, loss: Any, tokens: int, rate: float) -> None:
        """Add a step; print the mean of the latest ones now and then."""
        self._losses.append(loss)
        self._tokens += tokens
        if progress.done % REPORT_STEPS and progress.share < 1:
            return
        mean = torch.stack(self._losses).mean().item()
        speed = self._tokens / (progress.elapsed - self._since)
        print(
            f"step {progress.done}  loss {mean:.4f}  rate {rate:.2e}  {speed:,.0f} tokens/s"
            f"  {progress.elapsed:.0f} s",
            flush=True,
        )
        self._write(step=progress.done, loss=mean, rate=rate, speed=speed, seconds=progress.elapsed)
        self._losses, self._tokens, self._since = [], 0, progress.elapsed

    def end(self, progress: Progress, held_out: float | None) -> None:
        """Print the loss of the conversations that were held out."""
        if held_out is not None:
            print(f"held-out loss {held_out:.4f} after {progress.done} steps", flush=True)
            self._write(step=progress.done, held_out_loss=held_out)

    def _write(self, **values: float) -> None:
        if self._log:
            with self._log.open("a") as file:
                file.write(json.dumps(values) + "\n")


def mean_loss(model: Model, adapter: Adapter, rows: Iterator[Row]) -> float | None:
    """Return the mean loss of the trained tokens of rows; None if there are none."""
    total, count = 0.0, 0
    with torch.no_grad():
        for row in rows:
            total += model.loss(row, adapter).item() * len(row.targets)
            count += len(row.targets)
    return total / count if count else None


def save(adapter: Adapter, args: argparse.Namespace) -> None:
    """Write the adapter in half precision; a stop meanwhile leaves the earlier file."""
    matrices = {
        name: matrix.detach().cpu().numpy().astype(np.float16) for name, matrix in adapter.named().items()
    }
    partial = args.out.with_name(args.out.name + ".partial")
    with partial.open("wb") as file:
        np.savez(file, alpha=np.float32(args.alpha), **matrices)
    partial.replace(args.out)


def endless(numbers: NDArray[np.int64], generator: np.random.Generator) -> Iterator[int]:
    """Yield the numbers in a new order each time around, without end."""
    while True:
        yield from generator.permutation(numbers).tolist()


def make_rows(corpus: Corpus, numbers: Iterable[int], size: int, device: str) -> Iterator[Row]:
    """Yield rows with as many conversations each as fit into them."""
    chosen: list[int] = []
    used = 0
    for number in numbers:
        length = corpus.length(number)
        if chosen and used + length > size:
            yield make_row(corpus, chosen, size, device)
            chosen, used = [], 0
        chosen.append(number)
        used += length
    if chosen:
        yield make_row(corpus, chosen, size, device)


def make_row(corpus: Corpus, numbers: Sequence[int], size: int, device: str) -> Row:
    """Return conversations as one row; what is left of it is one more conversation, which is not learnt."""
    spans = [slice(corpus.starts[number], corpus.starts[number + 1]) for number in numbers]
    lengths = [corpus.length(number) for number in numbers]
    rest = size - sum(lengths)
    tokens = np.concatenate([*(corpus.tokens[span] for span in spans), np.zeros(rest, np.uint16)])
    trained = np.concatenate([*(corpus.trained[span] for span in spans), np.zeros(rest, np.bool_)])
    lengths += [rest] if rest else []
    positions = np.flatnonzero(trained)

    def send(values: NDArray[Any], kind: type[np.integer[Any]] = np.int64) -> torch.Tensor:
        return torch.from_numpy(values.astype(kind)).to(device)

    return Row(
        tokens=send(tokens),
        lengths=tuple(lengths),
        longest=max(lengths),
        bounds=send(np.cumsum([0, *lengths]), np.int32),
        places=send(np.concatenate([np.arange(length) for length in lengths])),
        trained=send(positions - 1),
        targets=send(tokens[positions]),
    )


def read_corpus(files: Sequence[Path], tokenizer: Path, context: int, processes: int) -> Corpus:
    """Return the conversations of files as tokens; longer ones are cut off at the context size."""
    lines = chain.from_iterable(map(_read_lines, files))
    tasks = iter(lambda: list(islice(lines, LINES_PER_TASK)), [])
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        found = list(pool.imap(partial(tokenise, str(tokenizer), context), tasks))
    return Corpus(
        tokens=np.concatenate([np.zeros(0, np.uint16), *(tokens for tokens, _, _ in found)]),
        trained=np.concatenate([np.zeros(0, np.bool_), *(trained for _, trained, _ in found)]),
        starts=np.cumsum([0, *chain.from_iterable(lengths for _, _, lengths in found)], dtype=np.int64),
    )


def tokenise(tokenizer: str, context: int, lines: Sequence[str]) -> Tokens:
    """Return the tokens of conversations, which of them are learnt, and the length of each conversation.

    Each text is tokenised by itself, as its end is a boundary when the model is used. The first token of a
    conversation cannot be learnt: nothing precedes it.
    """
    conversations: list[list[tuple[str, bool]]] = [json.loads(line) for line in lines]
    texts = list({text: None for pieces in conversations for text, _ in pieces})
    encodings = _load_tokenizer(tokenizer).encode_batch_fast(texts, add_special_tokens=False)
    tokens_of = {text: encoding.ids for text, encoding in zip(texts, encodings, strict=True)}
    tokens: list[int] = []
    trained: list[bool] = []
    lengths = []
    for pieces in conversations:
        ids = [token for text, _ in pieces for token in tokens_of[text]][:context]
        marks = [mark for text, mark in pieces for _ in tokens_of[text]][:context]
        tokens += ids
        trained += [False, *marks[1:]] if marks else []
        lengths.append(len(ids))
    return np.array(tokens, np.uint16), np.array(trained, np.bool_), lengths


@cache
def _load_tokenizer(file: str) -> Tokenizer:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # each process is one of many
    return Tokenizer.from_file(file)


def _read_lines(file: Path) -> Iterator[str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from lines


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a LoRA adapter for the built-in model.")
    parser.add_argument("folder", type=Path, help="what prepare.py wrote")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="gzipped JSON lines")
    parser.add_argument("--out", type=Path, required=True, help="the adapter to write (.npz)")
    parser.add_argument("--log", type=Path, help="also write the losses to this file, as JSON lines")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=8.5, help="limit for everything after the imports")
    parser.add_argument("--rank", type=int, default=RANK, help="default: %(default)s, the most that fits")
    parser.add_argument("--alpha", type=float, help="default: twice the rank")
    parser.add_argument("--lr", type=float, default=8e-4, help="the highest learning rate")
    parser.add_argument("--batch-tokens", type=int, default=65536, help="tokens of a step")
    parser.add_argument("--context", type=int, default=2048, help="most tokens of a conversation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="for the tokenizer")
    parser.add_argument("--compile", action="store_true", help="compile the layers first")
    args = parser.parse_args()
    if args.context > args.batch_tokens:
        parser.error("--context is more than --batch-tokens")
    args.alpha = args.alpha or 2.0 * args.rank
    return args


if __name__ == "__main__":
    main()
