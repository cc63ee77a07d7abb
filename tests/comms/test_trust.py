import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.comms.address import TcpAddress, UnixAddress
from bridle.comms.identity import peer_id
from bridle.comms.trust import MAX_PEERS, Peer, Trust
from bridle.core.errors import ConfigError

ANNA = Peer("anna", bytes([1]) * 32, TcpAddress("127.0.0.1", 4200))
BERT = Peer("bert", bytes([2]) * 32, UnixAddress("/run/bert.sock"))


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    """Return an empty list of peers."""
    return Trust(tmp_path / "home/trusted_peers.json")


def entry(**changes: Any) -> dict[str, Any]:
    """Return a good entry, with changes."""
    return {"name": "anna", "pubkey": peer_id(ANNA.public), "addr": "tcp://127.0.0.1:4200", **changes}


def write(trust: Trust, value: Any) -> None:
    trust.path.parent.mkdir(parents=True, exist_ok=True)
    trust.path.write_text(value if isinstance(value, str) else json.dumps(value))


def test_without_a_file_nobody_is_trusted(trust: Trust):
    assert trust.peers() == ()
    assert not trust.remove("anna")
    assert not trust.path.exists()


def test_peers_are_added_replaced_and_removed(trust: Trust):
    trust.add(BERT)
    trust.add(ANNA)
    both = trust.peers()
    moved = Peer("bert", BERT.public, TcpAddress("127.0.0.1", 9))
    trust.add(moved)

    assert both == (ANNA, BERT)
    assert trust.peers() == (ANNA, moved)
    assert trust.remove("bert")
    assert trust.peers() == (ANNA,)
    assert json.loads(trust.path.read_text()) == {"peers": [entry()]}
    assert trust.path.stat().st_mode & 0o777 == 0o600


def test_a_change_by_another_process_is_seen(trust: Trust):
    trust.add(ANNA)
    trust.peers()
    Trust(trust.path).add(BERT)

    assert trust.peers() == (ANNA, BERT)
    trust.path.unlink()
    assert trust.peers() == ()


def test_many_at_once_lose_nobody(trust: Trust):
    peers = [Peer(f"p{n}", n.to_bytes(32, "big"), BERT.address) for n in range(20)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda peer: Trust(trust.path).add(peer), peers))

    assert set(trust.peers()) == set(peers)


def test_one_key_has_one_name(trust: Trust):
    trust.add(ANNA)

    with pytest.raises(ConfigError, match='"anna" and "bert" have the same key'):
        trust.add(Peer("bert", ANNA.public, BERT.address))
    assert trust.peers() == (ANNA,)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"peers": [],}',
        {"peers": {}},
        {"peers": [entry()], "version": 1},
        {"peers": [entry(extra=1)]},
        {"peers": [{"name": "anna"}]},
        {"peers": [entry(name="a b")]},
        {"peers": [entry(name=5)]},
        {"peers": [entry(pubkey="ed25519:AAAA")]},
        {"peers": [entry(addr="http://x:1")]},
        {"peers": [entry(), entry()]},
        {"peers": [entry(), entry(name="bert")]},
        '{"peers": [{"name": "\ud800"}]}'.encode("utf-8", "surrogatepass").decode("latin-1"),
        "[" * 100_000,
    ],
)
def test_a_file_with_anything_wrong_is_an_error_that_names_it(trust: Trust, value: Any):
    write(trust, value)

    with pytest.raises(ConfigError, match=r"trusted_peers\.json: "):
        trust.peers()
    with pytest.raises(ConfigError, match=r"trusted_peers\.json: "):
        trust.add(BERT)


@given(st.binary(max_size=80))
def test_garbage_never_trusts_anybody(tmp_path_factory: pytest.TempPathFactory, data: bytes):
    path = tmp_path_factory.mktemp("trust") / "trusted_peers.json"
    path.write_bytes(data)

    with pytest.raises(ConfigError):
        Trust(path).peers()


@pytest.mark.parametrize("mode", [0o660, 0o602, 0o666])
def test_a_file_that_others_can_change_is_refused(trust: Trust, mode: int):
    trust.add(ANNA)
    trust.path.chmod(mode)

    with pytest.raises(ConfigError, match="others can change it"):
        trust.peers()


def test_a_file_that_is_too_large_or_no_file_is_refused(trust: Trust):
    write(trust, " " * (1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="is larger than"):
        trust.peers()
    trust.path.unlink()
    trust.path.mkdir()
    with pytest.raises(ConfigError, match="is not a regular file"):
        trust.peers()


def test_there_are_not_too_many_peers(trust: Trust):
    key = [peer_id(n.to_bytes(32, "big")) for n in range(MAX_PEERS + 1)]
    write(trust, {"peers": [entry(name=f"p{n}", pubkey=key[n]) for n in range(MAX_PEERS + 1)]})

    with pytest.raises(ConfigError, match=f"more than {MAX_PEERS} peers"):
        trust.peers()
