"""Model catalog: maps a reference such as `openai/gpt-6-sol` to its provider and the facts of the model.

```
anthropic/claude-opus-5-5              a configured provider, and any model name it accepts
embedded/smollm2-135m                  weights on disk or to download, or the path of a GGUF file
direct/python, direct/bash             no model: runs each prompt as Python code or as a command
scripted/examples/scripts/hello.json   a script file, or the name of one in a script directory
```

Facts of a model come from the user's settings first, then from its provider's entry, then from
`data/models.json`. Nothing is read, opened or started before a model is requested.
"""

import asyncio
import difflib
import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bridle.core.errors import ConfigError, ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall
from bridle.core.model import ApiKind, Model, ModelReply, ModelRequest, Price
from bridle.core.ports import Provider
from bridle.core.protocol import Delta
from bridle.providers.embedded import DEFAULT_WEIGHTS, find_weights
from bridle.providers.model_data import KnownModel, known_models
from bridle.providers.provider_settings import ModelEntry, ModelFacts, ProviderEntry, validate_entry
from bridle.providers.scripted import ScriptedProvider
from bridle.providers.vendors import vendor_at

if TYPE_CHECKING:
    from bridle.providers.factory import Tell
    from bridle.providers.llama.provider import LlamaProvider

# ---------------------------------------------------------------------------- unlisted
# Provider wrapper for a model that the catalog does not list: it may be new, or its name misspelled.


class UnlistedModelProvider:
    """Wraps a provider and suggests similar names if the provider does not find the model either."""

    def __init__(self, provider: Provider, hint: str) -> None:
        self.hint = hint
        self._provider = provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield what the provider yields; raises ProviderError, with `hint` if the model is not found."""
        async with aclosing(self._provider.stream(request)) as stream:
            try:
                async for item in stream:
                    yield item
            except ProviderError as error:
                if error.kind == "model_not_found":
                    error.hint = self.hint
                raise

    async def aclose(self) -> None:
        """Close the provider's connections."""
        await self._provider.aclose()


# ---------------------------------------------------------------------------- script files
# Finds script files: by path, or by name in a script directory, with or without the suffix.


SCRIPT_SUFFIXES = (".json", ".toml")


def find_script(ref: str, name: str, folders: Sequence[Path]) -> Path:
    """Return the script file of the model `ref`; raises ConfigError that suggests a similar name."""
    places = [folder / name for folder in folders]
    for place in places:
        for path in (f"{place}{suffix}" for suffix in ("", *SCRIPT_SUFFIXES)):
            if os.path.isfile(path):  # unlike Path.is_file, returns False for an invalid file name
                return Path(path)
    known = {path.stem for place in places for path in scripts_in(place.parent)}
    near = difflib.get_close_matches(Path(name).stem, sorted(known), n=1, cutoff=0.5)
    nearest = Path(ref).with_name(near[0]) if near else None
    raise ConfigError(
        f'model "{ref}": no script file named "{name}"',
        hint=f"did you mean {nearest}?" if nearest else "name a .json or .toml file",
    )


def scripts_in(folder: Path) -> Iterator[Path]:
    """Yield the script files in a folder; none if the folder does not exist."""
    try:
        yield from [path for path in folder.iterdir() if path.suffix in SCRIPT_SUFFIXES]
    except (OSError, ValueError):
        return


# ---------------------------------------------------------------------------- direct
# A provider without a model: it turns each prompt into one tool call, so people can run a tool directly.


DIRECT_TOOLS = {"bash": "command", "python": "code"}
"""The tools that can run directly, each with the argument that takes the prompt."""

_WINDOW_TOKENS = 10_000_000  # no model reads it


class DirectProvider:
    """Replies to a prompt with one tool call, and to its result with empty text."""

    def __init__(self, tool: str) -> None:
        self._tool = tool

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield one reply, without deltas."""
        last = request.messages[-1]
        if last.role == "user":
            call = ToolCall(CallId(""), self._tool, {DIRECT_TOOLS[self._tool]: last.text})
            yield ModelReply(Message("assistant", (call,)), "tool_use")
        else:
            yield ModelReply(Message("assistant", (Text(""),)), "end_turn")

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""


def direct_model(provider: str, tool: str) -> Model:
    """Return a free model with a huge window; raises ConfigError for a tool that cannot run directly."""
    if tool not in DIRECT_TOOLS:
        raise ConfigError(
            f'model "{provider}/{tool}": {tool} cannot be used directly',
            hint=" and ".join(f"{provider}/{name}" for name in DIRECT_TOOLS) + " can",
        )
    return Model(provider, tool, _WINDOW_TOKENS, 1, price=Price(0.0, 0.0))


# ---------------------------------------------------------------------------- catalog


DEFAULT_WINDOW_TOKENS = 128_000
DEFAULT_LOCAL_WINDOW_TOKENS = 4_096
DEFAULT_OUTPUT_TOKENS = 8_192
MAX_OUTPUT_TOKENS = 32_000  # a default only: vendors count the tokens requested as if they were used
OUTPUT_SHARE = 4  # at most a quarter of the window, so that the prompt still fits
FREE = Price(0.0, 0.0)


class ModelCatalog:
    """Resolves model references and keeps the opened providers."""

    def __init__(
        self,
        entries: Mapping[str, ProviderEntry],
        environ: Mapping[str, str],
        *,
        models: Mapping[str, ModelEntry] | None = None,
        script_dirs: Sequence[Path] = (),
        models_dir: Path = Path("models"),
        today: Callable[[], str] = str,
        tell: "Tell | None" = None,
    ) -> None:
        """Create a catalog; `today` returns the date as 2027-01-31, for prices.

        Without `tell`, weights are never downloaded.
        """
        self._entries = dict(entries)
        self._environ = environ
        self._models = models or {}
        self._script_dirs = (Path(), *script_dirs)
        self._models_dir = models_dir
        self._today = today
        self._tell = tell
        self._open: dict[str, Provider] = {}
        self._scripts: dict[str, ScriptedProvider] = {}
        self._local: dict[str, LlamaProvider] = {}
        self._opening = asyncio.Lock()  # one download and one server per model, for any number of requests

    @property
    def providers(self) -> dict[str, ProviderEntry]:
        """All configured providers, sorted by name."""
        return dict(sorted(self._entries.items()))

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        """Return the provider and the facts of a model; raises ConfigError with similar names if unknown.

        Downloads weights and starts a local server if needed. Raises ProviderError if that fails, or if the
        provider's key is missing.
        """
        name, entry, model = self._split(ref)
        match entry.kind:
            case "scripted":
                return self._script(ref, model), self.facts(ref).model
            case "direct":
                return DirectProvider(model), self.facts(ref).model
            case "llama" | "embedded":
                server = await self._server(ref, name, entry, model)
                return server, await self._asked(server, ref, entry, model)
            case api:
                provider, facts = self._remote(name, api, entry), self.facts(ref)
                if facts.known is None and vendor_at(entry.base_url):
                    provider = UnlistedModelProvider(provider, _suggest_models(name, facts.near))
                return provider, facts.model

    def facts(self, ref: str) -> ModelFacts:
        """Return the facts of a model without opening or starting anything; raises ConfigError."""
        _, entry, model = self._split(ref)
        vendor = vendor_at(entry.base_url)
        known = known_models().find(vendor.name, model) if vendor else None
        return ModelFacts(
            model=self._described(ref, entry, known),
            kind=entry.kind,
            known=known,
            key_env=entry.api_key_env,
            has_key=not entry.api_key_env or bool(self._key(entry)),
            near=tuple(known_models().near(vendor.name, model)) if vendor and not known else (),
        )

    def listed(self) -> list[ModelFacts]:
        """Return the facts of every listed model, sorted by reference; skips models whose file is gone."""
        refs = {ref for ref in self._models if ref.partition("/")[0] in self._entries}
        for name, entry in self._entries.items():
            refs |= {f"{name}/{model}" for model in self._names(entry)}
        found = []
        for ref in sorted(refs):
            with suppress(ConfigError):
                found.append(self.facts(ref))
        return found

    async def answering(self) -> dict[str, list[str]]:
        """Return the model names of each running model server on this machine, by provider."""
        from bridle.providers.llama.server_client import (  # noqa: PLC0415 - aiohttp, as below
            is_loopback,
            list_models,
        )

        async with asyncio.TaskGroup() as group:
            asked = {
                name: group.create_task(list_models(entry.base_url))
                for name, entry in self.providers.items()
                if entry.kind in ("openai", "llama") and not entry.is_ours and is_loopback(entry.base_url)
            }
        answers = {name: task.result() for name, task in asked.items()}
        return {name: models for name, models in answers.items() if models is not None}

    def server_pids(self) -> dict[str, int]:
        """Return the process ids of the running servers that Bridle started, by provider or model."""
        pids = {name: getattr(provider.server, "pid", None) for name, provider in self._local.items()}
        return {name: pid for name, pid in pids.items() if pid}

    async def aclose(self) -> None:
        """Close every opened provider and stop every started server."""
        for opened in (self._open, self._local):
            while opened:
                _, provider = opened.popitem()
                await provider.aclose()

    # ------------------------------------------------------------------ references and facts

    def _split(self, ref: str) -> tuple[str, ProviderEntry, str]:
        name, slash, model = ref.partition("/")
        if not slash or not model:
            raise ConfigError(
                f'model "{ref}": write it as PROVIDER/MODEL',
                hint=f"providers are {', '.join(self.providers)}",
            )
        entry = self._entries.get(name)
        if entry is None:
            near = difflib.get_close_matches(name, self._entries, n=3)
            hint = (
                f"did you mean {' or '.join(near)}?" if near else f"providers are {', '.join(self.providers)}"
            )
            raise ConfigError(f'model "{ref}": no provider named "{name}"', hint=hint)
        return name, entry, model

    def _names(self, entry: ProviderEntry) -> Iterator[str]:
        """Yield the names of the models that a provider is known to have."""
        match entry.kind:
            case "scripted":
                yield from (path.stem for folder in self._script_dirs[1:] for path in scripts_in(folder))
            case "embedded":
                yield DEFAULT_WEIGHTS.name
                yield from _stems(self._weights_dir(entry))
            case "llama":
                yield from (Path(file).stem for file in (entry.server.model,) if file)
                yield from _stems(self._weights_dir(entry)) if entry.server.models_dir else ()
            case "direct":
                yield from DIRECT_TOOLS
            case _:
                vendor = vendor_at(entry.base_url)
                yield from known_models().vendors.get(vendor.name, ()) if vendor else ()

    def _described(self, ref: str, entry: ProviderEntry, known: KnownModel | None) -> Model:
        """Return a model's facts: from the settings, else from its provider's entry, else from the data."""
        name, _, model = ref.partition("/")
        if entry.kind == "scripted":
            return self._said(ref).over(replace(self._script(ref, model).model(model), provider=name))
        if entry.kind == "direct":
            return direct_model(name, model)
        said = self._said(ref)
        window = said.window_tokens or entry.window_tokens or (known and known.window)
        window = window or self._default_window(entry, model)
        longest = (known.output if known else None) or DEFAULT_OUTPUT_TOKENS
        usual = max(1, min(longest, MAX_OUTPUT_TOKENS, window // OUTPUT_SHARE))
        price = known.price_on(self._today()) if known else FREE if entry.is_ours else None
        facts = Model(
            provider=name,
            name=model,
            window_tokens=window,
            max_output_tokens=entry.max_output_tokens or usual,
            price=price,
            images=known.images if known else None,
            reasoning=known.reasoning if known else None,
        )
        return said.over(facts)

    def _default_window(self, entry: ProviderEntry, model: str) -> int:
        match entry.kind:
            case "embedded":
                file = find_weights(model, self._weights_dir(entry))
                options = replace(entry.server, model=str(file), models_dir="")
                return options.window_guess or DEFAULT_LOCAL_WINDOW_TOKENS
            case "llama":
                return entry.server.window_guess or DEFAULT_LOCAL_WINDOW_TOKENS
            case _:
                return DEFAULT_WINDOW_TOKENS

    def _said(self, ref: str) -> ModelEntry:
        return self._models.get(ref, ModelEntry())

    # ------------------------------------------------------------------ open providers

    def _script(self, ref: str, name: str) -> ScriptedProvider:
        if ref not in self._scripts:
            path = find_script(ref, name, self._script_dirs)
            self._scripts[ref] = ScriptedProvider.load(path, name=ref)
        return self._scripts[ref]

    def _remote(self, name: str, kind: ApiKind, entry: ProviderEntry) -> Provider:
        if name not in self._open:
            key = self._needed_key(name, entry)
            validate_entry(name, entry, key)
            from bridle.providers.factory import open_remote  # noqa: PLC0415 - aiohttp costs 0.1 s to import

            self._open[name] = open_remote(name, kind, entry, key)
        return self._open[name]

    async def _server(self, ref: str, name: str, entry: ProviderEntry, model: str) -> "LlamaProvider":
        """Return the provider of a local server: one per embedded model, otherwise one per entry."""
        from bridle.providers.factory import open_embedded, open_llama  # noqa: PLC0415 - as above

        async with self._opening:
            if entry.kind == "embedded":
                if ref not in self._local:
                    folder = self._weights_dir(entry)
                    self._local[ref] = await open_embedded(name, entry, model, folder, self._tell)
                return self._local[ref]
            if name not in self._local:
                key = self._needed_key(name, entry)
                if not entry.is_ours:
                    validate_entry(name, entry, key)
                self._local[name] = open_llama(name, entry, key)
            return self._local[name]

    async def _asked(self, provider: "LlamaProvider", ref: str, entry: ProviderEntry, model: str) -> Model:
        """Return a model's facts as its server reports them; settings can only shrink the window."""
        try:
            facts = await provider.facts(model)
        except ProviderError:
            if entry.is_ours:
                raise
            facts = provider.model(model)  # the request will report a server that does not respond
        said = self._said(ref)
        wanted = said.window_tokens or entry.window_tokens or facts.window_tokens
        return replace(said.over(facts), window_tokens=min(wanted, facts.window_tokens))

    def _weights_dir(self, entry: ProviderEntry) -> Path:
        return Path(entry.server.models_dir).expanduser() if entry.server.models_dir else self._models_dir

    def _key(self, entry: ProviderEntry) -> str:
        return self._environ.get(entry.api_key_env, "").strip() if entry.api_key_env else ""

    def _needed_key(self, name: str, entry: ProviderEntry) -> str:
        key = self._key(entry)
        if entry.api_key_env and not key:
            vendor = vendor_at(entry.base_url)
            page = f", with a key from {vendor.key_page}" if vendor else ""
            raise ProviderError(
                f"{name}: no API key: the environment variable {entry.api_key_env} is not set",
                kind="invalid_api_key",
                hint=f"export {entry.api_key_env}=...{page}",
            )
        return key


def _suggest_models(provider: str, near: Sequence[str]) -> str:
    names = " or ".join(f"{provider}/{name}" for name in near)
    return f"did you mean {names}?" if names else f"bridle models list {provider}/"


def _stems(folder: Path) -> list[str]:
    return [path.stem for path in folder.glob("*.gguf")]
