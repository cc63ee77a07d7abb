"""Token counts from the model's tokenizer: many texts per request, with a cache.

`/tokenize` takes a list of texts and token ids and returns one list of ids. A special token that no
plain text can contain separates the texts:

```
["first text", 2, "second"]  ─▶  [28120, 905, 2, 15236]  ─▶  2 and 1 tokens
```
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from bridle.core.context import estimate_tokens
from bridle.core.errors import ProviderError
from bridle.providers.llama.server_client import ServerAddress, ServerClient

MAX_REMEMBERED = 8192
MAX_BATCH_TEXTS = 128
MAX_BATCH_CHARS = 500_000
TIMEOUT_S = 10.0


class TokenCounter:
    """Counts the tokens of texts for one model of a server."""

    def __init__(self, control: ServerClient, model: str = "") -> None:
        self._control = control
        self._model = {"model": model} if model else {}
        self._known: OrderedDict[bytes, int] = OrderedDict()
        self._separator: int | None = None

    async def count(self, address: ServerAddress, end_token: str, texts: Sequence[str]) -> list[int]:
        """Return the token count of each text; an estimate if the server does not respond."""
        keys = [_digest(text) for text in texts]
        found = {key: self._recall(key) for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        for batch in _batches(missing):
            try:
                counts = await self._ask(address, end_token, list(batch.values()))
            except ProviderError:
                counts = [estimate_tokens(text) for text in batch.values()]
            else:
                self._remember(batch, counts)
            found |= zip(batch, counts, strict=True)
        return [found[key] for key in keys]

    async def _ask(self, address: ServerAddress, end_token: str, texts: list[str]) -> list[int]:
        if len(texts) > 1 and (separator := await self._find_separator(address, end_token)) is not None:
            content: list[str | int] = []
            for text in texts:
                content += [text, separator]
            counts = _split(await self._tokens(address, content[:-1]), separator)
            if len(counts) == len(texts):
                return counts
        return [len(await self._tokens(address, text)) for text in texts]

    async def _find_separator(self, address: ServerAddress, end_token: str) -> int | None:
        if self._separator is None and end_token:
            tokens = await self._tokens(address, end_token, parse_special=True)
            self._separator = tokens[0] if len(tokens) == 1 else None
        return self._separator

    async def _tokens(
        self, address: ServerAddress, content: str | list[str | int], *, parse_special: bool = False
    ) -> list[int]:
        body = {"content": content, "parse_special": parse_special, **self._model}
        answer = await self._control.ask(address, "/tokenize", body, timeout_s=TIMEOUT_S)
        tokens: Any = answer.body.get("tokens") if isinstance(answer.body, dict) else None
        if answer.status != 200 or not isinstance(tokens, list):
            raise ProviderError("/tokenize gave no tokens", kind="server_error")
        return tokens

    def _remember(self, batch: dict[bytes, str], counts: list[int]) -> None:
        self._known.update(zip(batch, counts, strict=True))
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)

    def _recall(self, key: bytes) -> int:
        self._known.move_to_end(key)
        return self._known[key]


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _batches(texts: dict[bytes, str]) -> Iterator[dict[bytes, str]]:
    batch: dict[bytes, str] = {}
    size = 0
    for key, text in texts.items():
        if batch and (len(batch) == MAX_BATCH_TEXTS or size + len(text) > MAX_BATCH_CHARS):
            yield batch
            batch, size = {}, 0
        batch[key] = text
        size += len(text)
    if batch:
        yield batch


def _split(tokens: list[int], separator: int) -> list[int]:
    counts = [0]
    for token in tokens:
        if token == separator:
            counts.append(0)
        else:
            counts[-1] += 1
    return counts
