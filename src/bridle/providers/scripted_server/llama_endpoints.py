"""Responses of the llama-server endpoints other than chat: `/health`, `/props`, `/tokenize`, `/v1/models`."""

import re
import zlib
from typing import Any

import msgspec
from msgspec import Struct

from bridle.providers.script import Script

MODEL_NAME = "scripted"
VOCABULARY = 32_000
_TOKEN = re.compile(r"\s*\w{1,4}|\s*[^\w\s]|\s+")  # pieces of up to four letters, like real tokens


class _Tokenize(Struct):
    content: str = ""
    with_pieces: bool = False


def health() -> dict[str, Any]:
    """Return the status of a loaded model."""
    return {"status": "ok"}


def props(script: Script) -> dict[str, Any]:
    """Return the server properties that clients read."""
    able = ("tools", "tool_calls", "parallel_tool_calls", "object_arguments", "system_role", "string_content")
    return {
        "default_generation_settings": {"params": {"n_predict": -1}, "n_ctx": script.window_tokens},
        "total_slots": 1,
        "model_alias": MODEL_NAME,
        "model_path": f"/models/{MODEL_NAME}.gguf",
        "chat_template": "",
        "chat_template_caps": {f"supports_{what}": True for what in able},
        "modalities": {"vision": False, "video": False, "audio": False},
        "bos_token": "<s>",
        "eos_token": "</s>",
        "build_info": "scripted",
        "is_sleeping": False,
    }


def models(script: Script) -> dict[str, Any]:
    """Return the model list, which has one model."""
    window = script.window_tokens
    meta = {"n_ctx": window, "n_ctx_train": window, "n_vocab": VOCABULARY}
    entry = {"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "llamacpp", "meta": meta}
    listed = {"name": MODEL_NAME, "model": MODEL_NAME, "type": "model", "capabilities": ["completion"]}
    return {"models": [listed], "object": "list", "data": [entry]}


def tokenize(body: bytes) -> dict[str, Any]:
    """Return the tokens of a text: not a real vocabulary, but deterministic."""
    asked = msgspec.json.decode(body, type=_Tokenize)
    pieces = _TOKEN.findall(asked.content)
    ids = [zlib.crc32(piece.encode()) % VOCABULARY for piece in pieces]
    if not asked.with_pieces:
        return {"tokens": ids}
    return {"tokens": [{"id": n, "piece": piece} for n, piece in zip(ids, pieces, strict=True)]}
