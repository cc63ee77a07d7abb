"""The models that can be asked: which provider a reference such as `openai/gpt-5` means.

```
scripted/examples/scripts/hello.json   a script file, or the name of one in a known directory
openai/gpt-5                           a built-in or configured provider, and any model name it knows
```

A configured provider with a built-in's name replaces it; what it leaves out is taken from the built-in,
except that a key is never sent to another address than the one it was meant for.
"""

import difflib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from bridle.core.errors import ConfigError, ProviderError
from bridle.core.model import Model
from bridle.core.ports import Provider
from bridle.providers.scripted import ScriptedProvider

SCRIPT_SUFFIXES = (".json", ".toml")


class ProviderEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to reach one provider."""

    kind: Literal["openai", "scripted"] = "openai"
    base_url: str = ""
    api_key_env: str | None = None
    """The environment variable that holds the key; empty where no key is needed."""
    window_tokens: int = 128_000
    max_output_tokens: int = 8_192
    headers: dict[str, str] = {}
    params: dict[str, Any] = {}
    """Sent with every request, unless an agent or a request says otherwise."""
    connect_timeout_s: float = 15.0
    idle_timeout_s: float = 300.0


BUILT_IN: dict[str, ProviderEntry] = {
    "local": ProviderEntry(base_url="http://127.0.0.1:8080/v1"),
    "openai": ProviderEntry(base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY"),
    "scripted": ProviderEntry(kind="scripted"),
}


class ModelCatalog:
    """Finds providers by name and keeps them open."""

    def __init__(
        self,
        entries: Mapping[str, ProviderEntry],
        environ: Mapping[str, str],
        *,
        script_dirs: Sequence[Path] = (),
    ) -> None:
        self._entries = BUILT_IN | {name: _completed(name, entry) for name, entry in entries.items()}
        self._environ = environ
        self._script_dirs = (Path(), *script_dirs)
        self._open: dict[str, Provider] = {}
        self._scripts: dict[str, ScriptedProvider] = {}

    @property
    def providers(self) -> dict[str, ProviderEntry]:
        """Return every provider that can be named, built in or configured."""
        return dict(sorted(self._entries.items()))

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        """Return the adapter and the facts; raises ConfigError with near misses for an unknown one.

        Raises ProviderError when the provider's key is missing.
        """
        name, slash, model = ref.partition("/")
        if not slash or not model:
            raise ConfigError(
                f'model "{ref}": a model is named PROVIDER/MODEL',
                hint=f"providers are {', '.join(self.providers)}",
            )
        entry = self._entries.get(name)
        if entry is None:
            raise ConfigError(f'model "{ref}": no provider named "{name}"', hint=self._near(name))
        match entry.kind:
            case "scripted":
                script = self._script(ref, model)
                return script, msgspec.structs.replace(script.model(model), provider=name)
            case "openai":
                facts = Model(
                    provider=name,
                    name=model,
                    window_tokens=entry.window_tokens,
                    max_output_tokens=entry.max_output_tokens,
                )
                return self._openai(name, entry), facts

    async def aclose(self) -> None:
        """Close every provider that was used."""
        while self._open:
            _, provider = self._open.popitem()
            await provider.aclose()

    def _openai(self, name: str, entry: ProviderEntry) -> Provider:
        if name not in self._open:
            key = self._key(name, entry)
            _check(name, entry, key)
            from bridle.providers.openai import OpenAIProvider  # noqa: PLC0415 - aiohttp costs 0.1 s to import

            self._open[name] = OpenAIProvider.at(
                name,
                entry.base_url,
                key,
                headers=entry.headers,
                params=entry.params,
                connect_timeout_s=entry.connect_timeout_s,
                idle_timeout_s=entry.idle_timeout_s,
            )
        return self._open[name]

    def _key(self, name: str, entry: ProviderEntry) -> str:
        if not entry.api_key_env:
            return ""
        key = self._environ.get(entry.api_key_env, "").strip()
        if not key:
            raise ProviderError(
                f"{name}: no API key: the environment variable {entry.api_key_env} is not set",
                kind="invalid_api_key",
                hint=f"export {entry.api_key_env}=...",
            )
        return key

    def _script(self, ref: str, name: str) -> ScriptedProvider:
        found = self._scripts.get(ref)
        if found is None:
            path = self._script_path(ref, name)
            found = self._scripts[ref] = ScriptedProvider.load(path, name=ref)
        return found

    def _script_path(self, ref: str, name: str) -> Path:
        places = [directory / name for directory in self._script_dirs]
        for place in places:
            for path in (f"{place}{suffix}" for suffix in ("", *SCRIPT_SUFFIXES)):
                if os.path.isfile(path):  # unlike Path.is_file, false for a name no file can have
                    return Path(path)
        known = {path.stem for place in places for path in _scripts_in(place.parent)}
        near = difflib.get_close_matches(Path(name).stem, sorted(known), n=1, cutoff=0.5)
        nearest = Path(ref).with_name(near[0]) if near else None
        raise ConfigError(
            f'model "{ref}": no script file named "{name}"',
            hint=f"did you mean {nearest}?" if nearest else "name a .json or .toml file",
        )

    def _near(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._entries, n=3, cutoff=0.5)
        return f"did you mean {' or '.join(near)}?" if near else f"providers are {', '.join(self.providers)}"


def _completed(name: str, entry: ProviderEntry) -> ProviderEntry:
    built_in = BUILT_IN.get(name)
    if built_in is None or entry.base_url or entry.kind != built_in.kind:
        return entry
    variable = built_in.api_key_env if entry.api_key_env is None else entry.api_key_env
    return msgspec.structs.replace(entry, base_url=built_in.base_url, api_key_env=variable)


def _check(name: str, entry: ProviderEntry, key: str) -> None:
    """Find what would only fail, or leak, once it is sent."""
    try:
        address = urlsplit(entry.base_url)
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f'provider "{name}": base_url {entry.base_url!r} is no address',
            hint="it looks like https://host/v1",
        )
    for header, value in entry.headers.items():
        if not header or not (header + value).isprintable() or not header.isascii():
            raise ConfigError(f'provider "{name}": the header {header!r} cannot be sent')
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f'provider "{name}": {entry.api_key_env} holds characters that no key has')


def _scripts_in(directory: Path) -> list[Path]:
    try:
        return [path for path in directory.iterdir() if path.suffix in SCRIPT_SUFFIXES]
    except (OSError, ValueError):
        return []
