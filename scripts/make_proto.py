"""Generate the Python modules and typed stubs of `proto/` in `src`; `make proto` runs this.

```
proto/kontekst.proto ─▶ src/bridle/surfaces/grpc/generated/kontekst_pb2.py[i], kontekst_pb2_grpc.py[i]
```

The compiler is told that the file is inside Bridle's package, so that the generated modules import each other
from there.
"""

import sys
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parents[1]
PACKAGE = "bridle/surfaces/grpc/generated"
NAMES = ("kontekst",)


def make(target: Path) -> list[Path]:
    """Write the modules to `target` and return their paths; raises SystemExit on failure."""
    programs = Path(sys.executable).parent  # the stub generators are next to the interpreter
    outputs = ("python_out", "grpc_python_out", "mypy_out", "mypy_grpc_out")
    status = protoc.main(
        [
            "protoc",
            f"-I{PACKAGE}={ROOT / 'proto'}",
            *(
                f"--plugin=protoc-gen-{name}={programs / f'protoc-gen-{name}'}"
                for name in ("mypy", "mypy_grpc")
            ),
            *(f"--{output}={target}" for output in outputs),
            *(f"{PACKAGE}/{name}.proto" for name in NAMES),
        ]
    )
    if status:
        raise SystemExit(f"protoc failed with status {status}, see above")
    return sorted((target / PACKAGE).glob("*_pb2*"))


if __name__ == "__main__":
    for path in make(ROOT / "src"):
        print(path.relative_to(ROOT))
