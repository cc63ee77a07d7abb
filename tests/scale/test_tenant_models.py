"""Which models the runs of a tenant may use, whoever names them."""

import os

import pytest

from bridle.app.cluster import _names_file, _own_models
from bridle.config.settings import load_settings
from bridle.core.errors import NotAllowed
from bridle.core.tenancy import Tenant
from bridle.scale.tenant_models import TenantModels
from bridle.system.current_tenant import use_tenant
from tests.local_tenants import LocalTenants

FILE = "scripted//srv/own.json"


class AnyModels:
    async def resolve(self, ref: str) -> str:
        return ref

    async def aclose(self) -> None:
        pass


def models_for(*patterns: str) -> TenantModels:
    tenants = LocalTenants(os.urandom)
    tenants.put(Tenant("acme", models=patterns))
    return TenantModels(
        AnyModels(),
        tenants,
        own=lambda: {"llama/own", FILE},
        is_file=lambda ref: ref.startswith("scripted//"),
    )


@pytest.mark.parametrize(
    ("patterns", "ref", "is_let_through"),
    [
        ((), "openai/any", True),
        ((), "scripted//tenants/acme/evil.json", False),
        (("scripted/*",), "scripted//tenants/acme/evil.json", False),
        (("scripted//srv/demo.json",), "scripted//srv/demo.json", True),
        (("anthropic/*",), "anthropic/large", True),
        (("anthropic/*",), "openai/any", False),
        (("anthropic/*",), "llama/own", True),
        (("anthropic/*",), FILE, True),
    ],
)
async def test_a_tenant_uses_what_it_has_and_what_is_set_here(
    patterns: tuple[str, ...], ref: str, is_let_through: bool
):
    models = models_for(*patterns)

    assert await models.resolve(ref) == ref  # of the usual tenant
    with use_tenant("acme"):
        if is_let_through:
            assert await models.resolve(ref) == ref
        else:
            with pytest.raises(NotAllowed, match="is not allowed for tenant acme"):
                await models.resolve(ref)
    with use_tenant("gone"), pytest.raises(NotAllowed):
        await models.resolve("openai/any")


def test_what_is_a_file_and_what_is_set_here(tmp_path):
    (tmp_path / "agents" / "slow").mkdir(parents=True)
    (tmp_path / "agents" / "slow" / "config.toml").write_text('model = "scripted//srv/slow.json"\n')
    (tmp_path / "config.toml").write_text('model = "scripted//srv/own.json"\nsmall_model = "openai/small"\n')
    settings = load_settings({"BRIDLE_HOME": str(tmp_path)}, tmp_path)

    assert {"scripted//srv/own.json", "scripted//srv/slow.json", "openai/small"} <= _own_models(settings)
    refs = [
        "scripted/demo",
        "scripted//a",
        "scripted/a/b",
        "embedded/x.gguf",
        "embedded/~/x",
        "openai/a/b",
        "no/a/b",
    ]
    assert [ref for ref in refs if _names_file(ref, settings)] == [
        "scripted//a",
        "scripted/a/b",
        "embedded/x.gguf",
        "embedded/~/x",
    ]
