"""Convert a trained adapter to the GGUF file that llama.cpp loads with `--lora`.

`python -m training.export adapter.npz OUT.gguf` prints the SHA-256 of the file. The same adapter
gives the same bytes.
"""

import argparse
import hashlib
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

from training.weights import BLOCK

MAX_BYTES = 16_000_000
NAME = "Bridle adapter"
TYPES = {name.lower(): getattr(gguf.GGMLQuantizationType, name) for name in ("F16", "Q8_0", "Q5_0")}

Matrices = dict[str, NDArray[np.float16]]


def main() -> None:
    """Write the file and check its size."""
    args = _parse()
    with np.load(args.adapter) as stored:
        alpha = float(stored["alpha"]) if args.alpha is None else args.alpha
        matrices = {name: stored[name] for name in stored.files if name != "alpha"}
    if problem := find_problem(matrices, args.type):
        sys.exit(f"error: {args.adapter}: {problem}")
    partial = args.out.with_name(args.out.name + ".partial")
    write(matrices, alpha, TYPES[args.type], partial)
    if (size := partial.stat().st_size) > MAX_BYTES:
        partial.unlink()
        rank = len(next(iter(matrices.values())))
        sys.exit(
            f"error: rank {rank} makes a file of {size:,} bytes; at most {MAX_BYTES:,} are allowed"
            " (hint: train with a lower --rank, or use a smaller --type)"
        )
    partial.replace(args.out)
    print(f"{args.out}  {size:,} bytes  alpha {alpha:g}")
    print(hashlib.sha256(args.out.read_bytes()).hexdigest())


def find_problem(matrices: Matrices, kind: str) -> str:
    """Return why the matrices are no adapter; empty if they are one."""
    first = {name.removesuffix(".lora_a") for name in matrices if name.endswith(".lora_a")}
    second = {name.removesuffix(".lora_b") for name in matrices if name.endswith(".lora_b")}
    if not first or first != second or len(matrices) != 2 * len(first):
        return "does not hold pairs of lora_a and lora_b"
    ranks = {matrices[f"{name}.lora_a"].shape[0] for name in first}
    ranks |= {matrices[f"{name}.lora_b"].shape[1] for name in second}
    if len(ranks) != 1:
        return f"mixes the ranks {sorted(ranks)}"
    if kind != "f16" and ranks.pop() % BLOCK:
        return f"has a rank that is not a multiple of {BLOCK}, as {kind} needs it"
    if not all(np.isfinite(matrix).all() for matrix in matrices.values()):
        return "holds numbers that are not finite"
    return ""


def write(matrices: Matrices, alpha: float, kind: Any, out: Path) -> None:
    """Write an adapter in GGUF, its numbers in blocks of a quantised type."""
    writer: Any = gguf.GGUFWriter(out, "llama")
    writer.add_type("adapter")
    writer.add_name(NAME)
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for name, matrix in matrices.items():
        tensor, letter = name.rsplit(".", 1)
        numbers = gguf.quants.quantize(matrix.astype(np.float32), kind)
        writer.add_tensor(f"{tensor}.weight.{letter}", numbers, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Convert a trained adapter to GGUF.")
    parser.add_argument("adapter", type=Path, help="the file that train.py wrote")
    parser.add_argument("out", type=Path, help="the GGUF file to write")
    parser.add_argument("--type", choices=TYPES, default="q5_0", help="of the numbers; default: %(default)s")
    parser.add_argument("--alpha", type=float, help="default: the alpha of the training")
    return parser.parse_args()


if __name__ == "__main__":
    main()
