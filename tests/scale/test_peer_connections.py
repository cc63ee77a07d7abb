"""The connections to other workers."""

import pytest

from bridle.scale.peer_connections import PeerApi, PeerConnections


async def test_an_address_that_makes_no_sense_is_nobody_who_answers():
    async def reach(address: str) -> PeerApi:
        int(address.rpartition(":")[2])
        raise AssertionError

    with pytest.raises(OSError, match="invalid literal"):
        await PeerConnections(reach).api("worker:port")
