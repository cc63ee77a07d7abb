"""Run the bench modules of this folder and print their ratios against their bars.

`peers` runs only when it is named: its first time takes minutes and needs a package index.
"""

import importlib
import sys
from pathlib import Path

MODULES = (
    "startup",
    "coldstart",
    "store",
    "turns",
    "parallel",
    "deltas",
    "cancel",
    "idle",
    "edits",
    "search",
    "sandboxed",
    "kernel",
    "daemon",
    "grpc_events",
    "rpc_events",
    "rest",
    "watchers",
    "memory",
    "hooks",
    "tool_servers",
    "tui_start",
    "tui_stream",
    "web_page",
    "telemetry",
    "scale_turns",
    "scale_workers",
    "scale_watch",
    "scale_waiting",
    "scale_store",
    "scale_many",
    "scale_size",
)


def main() -> int:
    """Run the named benches, or the usual ones; exit 1 when a bar is missed."""
    sys.path.insert(0, str(Path(__file__).parent))
    over = 0
    for name in sys.argv[1:] or MODULES:
        print(f"== {name}", flush=True)
        for _, ratio, bar in importlib.import_module(name).main():
            over += ratio > bar
    print("all bars hold" if not over else f"{over} over their bar")
    return 1 if over else 0


if __name__ == "__main__":
    raise SystemExit(main())
