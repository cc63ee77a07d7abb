"""Blobs as objects in a bucket, over a real connection."""

import socket
from collections.abc import Iterator

import pytest

from bridle.core.errors import StoreCorrupt, StoreError
from bridle.stores.blob_check import PrunableBlobs
from bridle.stores.s3 import S3Blobs, open_bucket
from bridle.system import current_tenant
from tests.stores.bucket import Bucket, open_bucket_server

TEXT = b"the same line again and again\n" * 1000


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-s3cret")
    with open_bucket_server("blobs") as opened:
        yield opened


@pytest.fixture
def blobs(bucket: Bucket) -> S3Blobs:
    store = open_bucket("blobs", endpoint=bucket.url, patience_s=5)
    return S3Blobs(store, name="blobs", prefix="/team/a/", now_s=lambda: bucket.now)


def test_a_blob_is_one_object_named_by_tenant_and_digest(bucket: Bucket, blobs: S3Blobs):
    token = current_tenant.current.set("acme")
    digest = blobs.put(TEXT)
    current_tenant.current.reset(token)
    with pytest.raises(StoreError, match="is no longer stored"):
        blobs.get(digest)
    blobs.put(b"mine")

    acme, mine = sorted(bucket.objects, reverse=True)
    assert acme == f"team/a/acme/{digest[:2]}/{digest[2:]}"
    assert (mine.startswith("team/a/_/"), bucket.objects[mine]) == (True, b"rmine")
    assert len(bucket.objects[acme]) < len(TEXT) / 10
    assert "the-key" in bucket.signed
    assert "s3cret" not in bucket.signed


def test_what_is_put_comes_back_and_is_sent_once(bucket: Bucket, blobs: S3Blobs):
    digest = blobs.put(TEXT)
    blobs.put(TEXT)

    assert blobs.get(digest) == TEXT
    assert [method for method, _ in bucket.asked] == ["HEAD", "PUT", "HEAD", "GET"]


def test_what_is_put_again_after_a_while_is_young_again(bucket: Bucket, blobs: S3Blobs):
    digest = blobs.put(TEXT)
    bucket.now += 3000
    blobs.put(TEXT)
    bucket.now += 1000

    assert blobs.prune([], older_than_s=3600) == 0
    assert blobs.get(digest) == TEXT


def test_prune_removes_what_is_old_and_unused(bucket: Bucket, blobs: S3Blobs):
    used, _ = blobs.put(b"used"), blobs.put(b"unused")
    bucket.objects["team/b/_/aa/other"] = b"x"
    bucket.dates["team/b/_/aa/other"] = 0
    bucket.now += 7200
    young = blobs.put(b"young")

    assert blobs.digests() >= {used, young}
    assert blobs.prune({used}, older_than_s=3600) == 1
    assert blobs.digests() == {used, young}
    assert "team/b/_/aa/other" in bucket.objects
    assert isinstance(blobs, PrunableBlobs)


@pytest.mark.parametrize("damage", [b"", b"?", b"rshort", b"znonsense"])
def test_damage_is_noticed(bucket: Bucket, blobs: S3Blobs, damage: bytes):
    digest = blobs.put(TEXT)
    (key,) = bucket.objects
    bucket.objects[key] = damage

    with pytest.raises(StoreCorrupt, match="is damaged"):
        blobs.get(digest)


def test_more_than_was_ever_put_is_not_fetched(bucket: Bucket):
    blobs = S3Blobs(open_bucket("blobs", endpoint=bucket.url), name="blobs", max_blob_bytes=100)
    digest = blobs.put(b"x")
    (key,) = bucket.objects
    bucket.objects[key] = b"r" * 102

    with pytest.raises(StoreError, match="has more than 100 bytes"):
        blobs.get(digest)


def test_a_bucket_that_fails_for_a_moment_is_asked_again(bucket: Bucket, blobs: S3Blobs):
    digest = blobs.put(TEXT)
    bucket.faults = [503, 500]

    assert blobs.get(digest) == TEXT


@pytest.mark.parametrize(("status", "told"), [(403, "denied access"), (401, "denied access")])
def test_a_bucket_that_refuses_is_told_without_secrets(
    bucket: Bucket, blobs: S3Blobs, status: int, told: str
):
    bucket.faults = [status]

    with pytest.raises(StoreError, match=told) as caught:
        blobs.get("0" * 64)
    assert "s3cret" not in str(caught.value)


def test_nobody_listens_there(bucket: Bucket):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        blobs = S3Blobs(open_bucket("blobs", endpoint=endpoint, patience_s=0.2), name="blobs")

        with pytest.raises(StoreError, match="bucket blobs: "):
            blobs.put(b"x")
