"""Make the training data: `python -m training.generate --out data.jsonl.gz`, or `--show FAMILY` to read some.

Every conversation is performed in a folder of its own with Bridle's real tools. A line of the data is a
conversation as the model sees it: a list of `[text, trained]`, where only trained texts carry loss. The
same seed and count give the same lines; their hash is printed.
"""

import argparse
import gzip
import hashlib
import importlib
import json
import multiprocessing
import pkgutil
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from bridle.providers.embedded.trained_messages import (
    TITLE_SYSTEM,
    system_text,
    title_prompt,
    trained_messages,
)
from training.generator import families as families_package
from training.generator.play import Family, Play, Workshop, choose, perform

ATTEMPTS = 8
CHUNK = 200

Piece = tuple[str, bool]


def load_families(module: str = "") -> list[Family]:
    """Return all families, or those of one module, in the order of their modules."""
    names = sorted(found.name for found in pkgutil.iter_modules(families_package.__path__))
    if module:
        names = [name for name in names if name == module]
    modules = [importlib.import_module(f"{families_package.__name__}.{name}") for name in names]
    return [family for module in modules for family in getattr(module, "FAMILIES", ())]


def conversation(families: Sequence[Family], seed: int, workshop: Workshop) -> tuple[Family, Play] | None:
    """Perform the conversation of a seed; None if no draw fits."""
    rng = random.Random(seed)
    family = choose(families, rng)
    try:
        for _ in range(ATTEMPTS):
            if play := perform(family, rng.randrange(2**40), workshop):
                return family, play
    except Exception as error:
        error.add_note(f"in {family.name}, seed {seed}")
        raise
    return None


def report_slip(seed: int) -> None:
    """Print why a conversation could not be performed; a slip in one family must not cost an hour's work."""
    print(f"seed {seed}:", file=sys.stderr)
    traceback.print_exc()


def render(play: Play) -> list[Piece]:
    """Return a conversation as the model sees it, in pieces."""
    system = TITLE_SYSTEM if play.titled else system_text(play.tools)
    pieces: list[Piece] = [(f"<|im_start|>system\n{system}<|im_end|>\n", False)]
    messages = trained_messages(play.messages)
    if play.titled:
        messages = (title_prompt(play.messages[0].text), *messages[1:])
    for message in messages:
        trained = message.role == "assistant"
        pieces.append((f"<|im_start|>{message.role}\n", False))
        pieces.append((f"{message.text}<|im_end|>", trained))
        pieces.append(("\n", False))
    return pieces


def make_lines(args: tuple[int, int]) -> list[tuple[str, str]]:
    """Return the family and the line of each seed of a range; runs in a worker."""
    made = []
    place = Path(tempfile.mkdtemp(prefix="training-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    workshop = Workshop(place)
    try:
        families = load_families()
        for seed in range(*args):
            try:
                found = conversation(families, seed, workshop)
            except Exception:  # noqa: BLE001
                report_slip(seed)
                continue
            if found:
                line = json.dumps(render(found[1]), ensure_ascii=False, separators=(",", ":"))
                made.append((found[0].name, line))
    finally:
        workshop.close()
        shutil.rmtree(place, ignore_errors=True)
    return made


def write(args: argparse.Namespace) -> int:
    """Write the data and print its hash and the number of conversations of each module."""
    first = args.seed * 10_000_000
    chunks = [(at, min(at + CHUNK, first + args.count)) for at in range(first, first + args.count, CHUNK)]
    digest, counts, known = hashlib.sha256(), Counter[str](), set[bytes]()
    started = time.monotonic()
    with gzip.open(args.out, "wt", compresslevel=6) as file, multiprocessing.Pool(args.jobs) as pool:
        for done, made in enumerate(pool.imap(make_lines, chunks), 1):
            for name, line in made:
                mark = hashlib.blake2b(line.encode(), digest_size=8).digest()
                if mark in known:
                    continue
                known.add(mark)
                counts[name.partition(".")[0]] += 1
                digest.update(line.encode() + b"\n")
                file.write(line + "\n")
            if done % 20 == 0:
                speed = sum(counts.values()) / (time.monotonic() - started)
                print(f"{sum(counts.values())} conversations, {speed:.0f} a second", file=sys.stderr)
    for name, count in sorted(counts.items()):
        print(f"{name:<24}{count:>8}")
    print(f"{sum(counts.values())} conversations, sha256 {digest.hexdigest()}")
    return 0


def show(args: argparse.Namespace) -> int:
    """Print conversations of a family, or of all families of a module."""
    module = "" if args.show == "all" else args.show.partition(".")[0]
    wanted = [family for family in load_families(module) if args.show in (family.name, module, "all")]
    if not wanted:
        print(f"error: no family is named {args.show!r}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="training-", ignore_cleanup_errors=True) as place:
        workshop = Workshop(Path(place))
        try:
            for number, text in enumerate(_shown(wanted, args, workshop), 1):
                print(f"---------------- {number}\n{text}\n")
        finally:
            workshop.close()
    return 0


def _shown(families: Sequence[Family], args: argparse.Namespace, workshop: Workshop) -> Iterator[str]:
    for seed in range(args.seed, args.seed + args.count):
        if found := conversation(families, seed, workshop):
            family, play = found
            text = "".join(piece for piece, _ in render(play)[1:])
            yield f"{family.name}\n{text.replace('<|im_start|>', '').replace('<|im_end|>', '')}"


def main() -> int:
    """Write data, or show some of it."""
    parser = argparse.ArgumentParser(description="make the training data of the embedded model")
    parser.add_argument("--out", type=Path, help="the file to write, gzipped JSON Lines")
    parser.add_argument(
        "--show", help="print conversations of this module or family, such as edit_code.rename, or of all"
    )
    parser.add_argument("--count", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.show:
        return show(args)
    if args.out is None:
        parser.error("--out or --show is needed")
    return write(args)


if __name__ == "__main__":
    sys.exit(main())
