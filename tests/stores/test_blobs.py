"""Blobs come back byte for byte or not at all."""

import hashlib
import os
import random
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from obstore.store import MemoryStore

from bridle.core.errors import StoreCorrupt, StoreError
from bridle.core.ports import Blobs
from bridle.stores.blobs import FileBlobs, MemoryBlobs
from bridle.stores.postgres.blobs import BlockingPostgres, PostgresBlobs
from bridle.stores.s3 import S3Blobs
from tests.postgres import database_at

TEXT = b"the same line again and again\n" * 1000
NOISE = random.Random(1).randbytes(100_000)

PUT = """
import sys
from pathlib import Path
from bridle.stores.blobs import FileBlobs
blobs = FileBlobs(Path(sys.argv[1]))
print([blobs.put(b"%d" % (n % 50) * 3000) for n in range(300)][-1])
"""


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_of(folder: Path, digest: str) -> Path:
    return folder / digest[:2] / digest[2:]


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def failure(work: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as caught:
        work()
    return f"{type(caught.value).__name__}: {caught.value}"


@contextmanager
def open_blobs(kind: str, folder: Path, **options: object) -> Iterator[Blobs]:
    match kind:
        case "file":
            yield FileBlobs(folder / "blobs", **options)
        case "memory":
            yield MemoryBlobs(**options)
        case "postgres":
            postgres = BlockingPostgres(database_at(folder))
            yield PostgresBlobs(postgres, **options)
            postgres.close()
        case _:
            yield S3Blobs(MemoryStore(), name="memory", **options)


KINDS = ("file", "memory", "postgres", "s3")


@pytest.fixture(params=KINDS)
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    with open_blobs(request.param, tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("data", [b"", b"r", b"z", TEXT, NOISE, TEXT + NOISE, b"\0" * 10_000_000])
def test_what_is_put_comes_back(blobs: Blobs, data: bytes):
    digest = blobs.put(data)

    assert (digest, blobs.get(digest)) == (digest_of(data), data)


@given(st.lists(st.binary(max_size=6000), max_size=8))
def test_any_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]):
    blobs = FileBlobs(tmp_path_factory.mktemp("blobs"))
    digests = [blobs.put(data) for data in contents]

    assert [blobs.get(digest) for digest in digests] == contents


@pytest.mark.parametrize("digest", ["", "ab", "0" * 64, "../" * 20 + "etc/passwd", "A" * 64, "0" * 63 + "/"])
def test_what_was_never_put_is_an_error(blobs: Blobs, digest: str):
    blobs.put(b"something else")

    assert failure(lambda: blobs.get(digest)) == f"StoreError: blob {digest[:12]} is no longer stored"


@pytest.mark.parametrize("kind", KINDS)
def test_too_much_is_refused(kind: str, tmp_path: Path):
    with open_blobs(kind, tmp_path, max_blob_bytes=10) as blobs:
        assert blobs.get(blobs.put(b"0123456789")) == b"0123456789"
        assert failure(lambda: blobs.put(b"0123456789a")) == (
            "StoreError: the content has more than 10 bytes and cannot be stored"
        )


def test_only_the_owner_may_look(tmp_path: Path):
    digest = FileBlobs(tmp_path / "blobs").put(TEXT)
    path = file_of(tmp_path / "blobs", digest)

    modes = [stat.S_IMODE(place.stat().st_mode) for place in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]


def test_the_same_bytes_are_written_once(tmp_path: Path):
    blobs = FileBlobs(tmp_path)
    digest = blobs.put(TEXT)
    first = file_of(tmp_path, digest).stat()
    blobs.put(TEXT)

    assert files_in(tmp_path) == [f"{digest[:2]}/{digest[2:]}"]
    assert file_of(tmp_path, digest).stat().st_ino == first.st_ino


def test_text_is_compressed_and_noise_is_not(tmp_path: Path):
    blobs = FileBlobs(tmp_path)
    sizes = {len(data): file_of(tmp_path, blobs.put(data)).stat().st_size for data in (TEXT, NOISE, b"short")}

    assert sizes.pop(len(TEXT)) < len(TEXT) / 10
    assert sizes == {len(NOISE): len(NOISE) + 1, 5: 6}


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"?",
        b"r",
        b"rshort",
        b"z",
        b"znonsense",
        b"z" + zlib.compress(b"something else"),
        b"z" + zlib.compress(TEXT)[:-20],
    ],
)
def test_damage_is_noticed(tmp_path: Path, damage: bytes):
    blobs = FileBlobs(tmp_path)
    digest = blobs.put(TEXT)
    file_of(tmp_path, digest).write_bytes(damage)

    with pytest.raises(StoreCorrupt, match="is damaged: its content has changed"):
        blobs.get(digest)


def test_a_bomb_is_not_unpacked(tmp_path: Path):
    blobs = FileBlobs(tmp_path, max_blob_bytes=1_000_000)
    digest = blobs.put(TEXT)
    file_of(tmp_path, digest).write_bytes(b"z" + zlib.compress(b"\0" * 50_000_000))

    assert failure(lambda: blobs.get(digest)) == (
        f"StoreError: blob {digest[:12]} has more than 1000000 bytes and cannot be stored"
    )


def test_an_empty_leftover_of_a_power_cut_is_written_anew(tmp_path: Path):
    blobs = FileBlobs(tmp_path)
    digest = blobs.put(TEXT)
    file_of(tmp_path, digest).write_bytes(b"")
    blobs.put(TEXT)

    assert blobs.get(digest) == TEXT


def test_a_leftover_of_a_crash_is_not_in_the_way(tmp_path: Path):
    folder = tmp_path / digest_of(TEXT)[:2]
    folder.mkdir()
    (folder / f".{os.getpid()}-0.tmp").write_bytes(b"half")
    blobs = FileBlobs(tmp_path)

    assert blobs.get(blobs.put(TEXT)) == TEXT
    assert (folder / f".{os.getpid()}-0.tmp").read_bytes() == b"half"


def test_a_full_device_is_told_and_leaves_nothing():
    """A limit on file sizes refuses the write where a full device would."""
    code = """
import os, resource, signal, tempfile
from pathlib import Path
from bridle.stores.blobs import FileBlobs
from bridle.core.errors import StoreFull
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
with tempfile.TemporaryDirectory() as folder:
    try:
        FileBlobs(Path(folder)).put(os.urandom(5000))
    except StoreFull as error:
        print("full", bool(error.hint))
    print([name for _, _, names in os.walk(folder) for name in names])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "full True\n[]\n"


def test_threads_and_processes_share_a_folder(tmp_path: Path):
    others = [
        subprocess.Popen([sys.executable, "-c", PUT, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(2)
    ]
    blobs = FileBlobs(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(lambda n: blobs.put(b"%d" % (n % 50) * 3000), range(300)))
    said = [other.communicate()[0].decode().strip() for other in others]

    assert said == [digests[-1]] * 2
    assert len(files_in(tmp_path)) == 50
    assert {digest: digest_of(blobs.get(digest)) for digest in digests} == {d: d for d in digests}


def test_prune_removes_what_is_old_and_unused(tmp_path: Path):
    now = [1e9]
    blobs = FileBlobs(tmp_path, now_s=lambda: now[0])
    used, unused, young = (blobs.put(data) for data in (b"used", b"unused", b"young"))
    for digest in (used, unused):
        os.utime(file_of(tmp_path, digest), (now[0] - 7200, now[0] - 7200))
    os.utime(file_of(tmp_path, young), (now[0] - 60, now[0] - 60))
    leftover = file_of(tmp_path, used).with_name(".1-1.tmp")
    leftover.write_bytes(b"half")
    os.utime(leftover, (now[0] - 7200, now[0] - 7200))

    assert blobs.prune({used}, older_than_s=3600) == 2
    assert files_in(tmp_path) == sorted(f"{d[:2]}/{d[2:]}" for d in (used, young))


def test_what_is_put_again_is_young_again(tmp_path: Path):
    blobs = FileBlobs(tmp_path)
    digest = blobs.put(TEXT)
    os.utime(file_of(tmp_path, digest), (0, 0))
    blobs.put(TEXT)

    assert blobs.prune(set(), older_than_s=3600) == 0
    assert blobs.get(digest) == TEXT


def test_there_is_nothing_to_prune_in_no_folder(tmp_path: Path):
    assert FileBlobs(tmp_path / "never").prune(set(), older_than_s=0) == 0


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")

    assert failure(lambda: FileBlobs(tmp_path / "file").put(b"x")).startswith("StoreError: ")
