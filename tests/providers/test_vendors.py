import pytest

from bridle.providers.model_data import known_models
from bridle.providers.vendors import VENDORS, vendor_at


def test_every_vendor_has_data_and_the_data_has_no_others():
    assert sorted(vendor.name for vendor in VENDORS.values()) == sorted(known_models().vendors)


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://API.OpenAI.com:443", "openai"),
        ("https://mine.openai.azure.com/openai/v1", "openai"),
        ("https://openai.azure.com.evil.example/v1", None),
        ("https://api.openai.com.evil.example/v1", None),
        ("http://127.0.0.1:8080/v1", None),
        ("http://[::1", None),
        ("", None),
    ],
)
def test_a_vendor_is_known_by_its_host(base_url: str, name: str | None):
    found = vendor_at(base_url)

    assert (found.name if found else None) == name


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=lambda vendor: vendor.name)
def test_the_page_for_keys_is_an_address(vendor):
    assert vendor.key_page.startswith("https://")
