"""The server process of the embedded model: runs llama.cpp's server from the package xllamacpp.

`python -P server.py --model FILE --port N …` accepts the `llama-server` flags that Bridle sets, listens on
loopback, reads its API key from LLAMA_API_KEY, and exits when stdin closes, because the client is then gone.
It is a separate process so that an abort in native code cannot crash Bridle.
"""

import argparse
import importlib
import os
import sys
import threading
from typing import Any

LOOPBACK = ("127.0.0.1", "::1", "localhost")
CACHED_PROMPTS_MIB = 256  # the default of 8 GB is for dedicated servers


def main(argv: list[str]) -> None:
    """Serve until stdin closes."""
    args = _parse(argv)
    key = os.environ.pop("LLAMA_API_KEY", "")
    if not key:
        sys.exit("error: no API key (hint: set LLAMA_API_KEY)")
    if args.host not in LOOPBACK:
        sys.exit(f"error: the embedded server listens on loopback only, not on {args.host}")
    # No Python code runs while the model loads; on Linux the launcher's death signal covers that time.
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    try:
        xllamacpp = importlib.import_module("xllamacpp")  # optional, and without types
    except ImportError as error:
        sys.exit(f"error: {error} (hint: pip install 'bridle-agent[local]')")
    try:
        params = _params(xllamacpp.CommonParams(), args, key)
        if args.lora:
            params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(args.lora, 1.0)]
            params.cache_ram_mib = 0  # a cached prompt does not say whether the adapter was on
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        sys.exit(f"error: {error}")  # llama.cpp printed the reason above
    threading.Event().wait()
    del server


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bridle-embedded", description="Serve a GGUF file on loopback.")
    parser.add_argument("--model", "-m", required=True)
    parser.add_argument("--alias", "-a", default="embedded")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ctx-size", "-c", type=int, default=0)
    parser.add_argument("--n-gpu-layers", "-ngl", type=int)
    parser.add_argument("--threads", "-t", type=int)
    parser.add_argument("--parallel", "-np", type=int, default=1)
    parser.add_argument("--jinja", action="store_true")
    parser.add_argument("--reasoning-format", choices=["deepseek"], default="deepseek")  # xllamacpp's default
    parser.add_argument("--chat-template-file")
    parser.add_argument("--lora", help="an adapter for the model")
    parser.add_argument("--embedding", action="store_true")
    return parser.parse_args(argv)


def _params(params: Any, args: argparse.Namespace, key: str) -> Any:
    params.model.path = args.model
    params.model_alias = {args.alias}
    params.hostnames = [args.host]
    params.port = args.port
    params.api_keys = [key]
    params.n_ctx = args.ctx_size
    params.n_parallel = args.parallel
    params.use_jinja = args.jinja
    params.embedding = args.embedding
    params.ui = False
    params.offline = True
    params.cache_ram_mib = CACHED_PROMPTS_MIB
    if args.threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = args.threads
    if args.n_gpu_layers is not None:
        params.n_gpu_layers = args.n_gpu_layers
    if args.chat_template_file:
        with open(args.chat_template_file, encoding="utf-8") as file:
            params.chat_template = file.read()
    return params


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
