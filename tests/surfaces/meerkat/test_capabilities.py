import msgspec

from bridle.surfaces.meerkat.contract import build_capabilities, parse_contract


def test_what_is_offered_says_so_and_what_is_not_says_why():
    listed = msgspec.to_builtins(build_capabilities(parse_contract("0.5.2")))

    assert listed["contract_version"] == {"major": 0, "minor": 5, "patch": 2}
    statuses = {one["id"]: one["status"] for one in listed["capabilities"]}
    assert statuses["sessions"] == statuses["skills"] == "Available"
    assert list(statuses["comms"]) == ["NotSupportedByProtocol"]
    with_comms = msgspec.to_builtins(build_capabilities(parse_contract("0.5.2"), has_comms=True))
    assert {one["id"]: one["status"] for one in with_comms["capabilities"]}["comms"] == "Available"
    assert all(one["description"] for one in listed["capabilities"])
