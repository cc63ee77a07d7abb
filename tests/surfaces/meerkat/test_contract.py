import pytest

from bridle.core.errors import UsageError
from bridle.surfaces.meerkat.contract import Contract, parse_contract


def test_a_version_is_read_and_written():
    contract = parse_contract("0.9.6")

    assert (contract, str(contract)) == (Contract(0, 9, 6), "0.9.6")


@pytest.mark.parametrize("text", ["", "1", "0.5", "0.5.2.1", "v0.5.2", "0.5.x", "0.5.-2", "0.5.2 ", "9" * 30])
def test_what_is_no_version_is_refused(text: str):
    with pytest.raises(UsageError, match="is not a version of the contract"):
        parse_contract(text)


def test_clients_since_0_8_1_want_envelopes():
    versions = {
        text: parse_contract(text).enveloped for text in ("0.5.2", "0.8.0", "0.8.1", "0.9.6", "1.0.0")
    }

    assert versions == {"0.5.2": False, "0.8.0": False, "0.8.1": True, "0.9.6": True, "1.0.0": True}


def test_clients_before_0_6_get_short_lines():
    assert parse_contract("0.5.2").max_line_bytes < 64 * 1024 < parse_contract("0.6.0").max_line_bytes
