"""The connections to other workers."""

import pytest

from bridle.scale.peers import PeerApi, Peers


async def test_an_address_that_makes_no_sense_is_nobody_who_answers():
    async def reach(address: str) -> PeerApi:
        int(address.rpartition(":")[2])
        raise AssertionError

    with pytest.raises(OSError, match="invalid literal"):
        await Peers(reach).api("worker:port")
