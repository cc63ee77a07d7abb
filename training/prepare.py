"""Prepare the base model for training: rebuild its tokenizer and cut its weights into parts.

`python -m training.prepare WEIGHTS.gguf FOLDER --parts 2` writes `tokenizer.json`, `weights.0` and
`weights.1`, which `train.py` reads. Parts are for machines that take small files only.
"""

import argparse
from pathlib import Path
from typing import Any

import gguf
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from training.weights import PART

CONTROL = int(gguf.TokenType.CONTROL)


def main() -> None:
    """Write the files that training needs."""
    args = _parse()
    args.folder.mkdir(parents=True, exist_ok=True)
    build_tokenizer(args.weights).save(str(args.folder / "tokenizer.json"))
    for old in args.folder.glob(PART.format("*")):
        old.unlink()
    for number, part in enumerate(cut(args.weights.read_bytes(), args.parts)):
        (args.folder / PART.format(number)).write_bytes(part)
    for file in sorted(args.folder.iterdir()):
        print(f"{file}  {file.stat().st_size:,} bytes")


def build_tokenizer(weights: Path) -> Any:
    """Return the tokenizer of a GGUF file: byte-level BPE that takes digits one by one."""
    fields = gguf.GGUFReader(weights).fields
    tokens, merges, kinds, splitter = (
        fields[f"tokenizer.ggml.{key}"].contents() for key in ("tokens", "merges", "token_type", "pre")
    )
    if splitter != "smollm":
        raise SystemExit(f"error: {weights}: splits text the way of {splitter}, not of smollm")
    numbers = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(numbers, [tuple(merge.split(" ", 1)) for merge in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == CONTROL]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return tokenizer


def cut(data: bytes, parts: int) -> list[bytes]:
    """Return the data in parts of nearly equal size."""
    size = -(-len(data) // parts)
    return [data[start : start + size] for start in range(0, len(data), size)]


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Prepare the base model for training.")
    parser.add_argument("weights", type=Path, help="the GGUF file of the base model")
    parser.add_argument("folder", type=Path, help="where to write")
    parser.add_argument("--parts", type=int, default=1, help="number of files for the weights")
    return parser.parse_args()


if __name__ == "__main__":
    main()
