"""Measure a model: play orders of a file through `bridle run` and check answers and folders.

`python training/evaluate.py --set tuning` prints a table; `training/eval/README.md` describes the orders.
Every order gets a folder and a home of its own that are removed afterwards; commands run in the sandbox.
"""

import argparse
import base64
import fnmatch
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EVAL = Path(__file__).with_name("eval")
MODEL = "embedded/smollm2-135m"
MODES: dict[str, list[str]] = {"yolo": ["--yolo"], "ask": [], "plan": ["--plan"]}
TURN_S = 180.0
COMMAND_S = 30.0
IGNORED = ("__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache", ".git")

Order = dict[str, Any]


@dataclass
class Outcome:
    """What came of one order."""

    order: Order
    problems: list[str] = field(default_factory=list)
    wrong_changes: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Return whether all checks hold and nothing else was changed."""
        return not self.problems and not self.wrong_changes


def read_orders(files: list[Path], families: list[str], limit: int) -> list[Order]:
    """Return the orders of files, of some families only if any are named."""
    orders = [json.loads(line) for file in files for line in file.read_text().splitlines() if line.strip()]
    chosen = [order for order in orders if not families or order["family"] in families]
    return chosen[: limit or None]


def play(order: Order, model: str, models_dir: Path, mode: str = "yolo") -> Outcome:
    """Play one order in a folder of its own and check the result."""
    outcome = Outcome(order if mode == "yolo" else order | {"check": {}})  # then each change is a wrong one
    with tempfile.TemporaryDirectory(prefix="order-", ignore_cleanup_errors=True) as place:
        folder, home = Path(place, "folder"), Path(place, "home")
        folder.mkdir()
        (home / ".bridle").mkdir(parents=True)
        (home / ".bridle" / "models").symlink_to(models_dir)
        environ = _environment(home)
        _prepare(order, folder, environ)
        before = _snapshot(folder)
        started = time.monotonic()
        for turn, prompt in enumerate(order["turns"]):
            options = [*MODES[mode], "--continue"] if turn else MODES[mode]
            _run_turn(outcome, prompt, options, folder, environ, model)
        outcome.seconds = time.monotonic() - started
        check_outcome(outcome, folder, before)
        outcome.problems += _check_command(order["check"], folder, environ)
    return outcome


def check_outcome(outcome: Outcome, folder: Path, before: dict[str, bytes]) -> None:
    """Check the answers and the folder; `before` is its content before the order."""
    check = outcome.order["check"]
    outcome.problems += _check_answers(check, outcome)
    outcome.problems += _check_files(check, folder)
    outcome.wrong_changes = _wrong_changes(check, before, _snapshot(folder))


def _environment(home: Path) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "PYTHONPATH", "TMPDIR") if key in os.environ}
    who = {"NAME": "Ann", "EMAIL": "ann@example.org", "DATE": "2026-01-05T10:00:00+00:00"}
    git = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    fixed = {"HOME": str(home), "BRIDLE_HOME": str(home / ".bridle"), "PYTHONDONTWRITEBYTECODE": "1"}
    return kept | git | fixed | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def _prepare(order: Order, folder: Path, environ: dict[str, str]) -> None:
    for name, content in order.get("files", {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = base64.b64decode(content["base64"]) if isinstance(content, dict) else content.encode()
        path.write_bytes(data)
    for command in order.get("setup", []):
        _shell(command, folder, environ)


def _shell(command: str, folder: Path, environ: dict[str, str]) -> str:
    """Return what a command of the order prints; it is one of the orders' author, not of the model."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environ, capture_output=True, timeout=COMMAND_S, check=False
    )
    return done.stdout.decode(errors="replace")


def _run_turn(
    outcome: Outcome, prompt: str, options: list[str], folder: Path, environ: dict[str, str], model: str
) -> None:
    command = [sys.executable, "-m", "bridle", "run", "--model", model, "--max-turns", "12"]
    process = subprocess.Popen(
        [*command, "--output", "stream-json", *options, "--", prompt],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=TURN_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        outcome.problems.append(f"no end within {TURN_S:g} s")
    answer = ""
    for line in out.decode(errors="replace").splitlines():
        event = json.loads(line)
        if event.get("type") == "result":
            answer = event.get("text", "")
        else:
            outcome.calls += [f"{call['name']} {json.dumps(call.get('args', {}))}" for call in _calls(event)]
    if process.returncode and not answer:
        outcome.problems.append(err.decode(errors="replace").strip()[-200:] or f"exit {process.returncode}")
    outcome.answers.append(answer)


def _calls(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of a line, if it is a reply of the model."""
    event = line.get("event", {})
    parts = event["message"]["parts"] if event.get("type") == "model_replied" else []
    return [part for part in parts if part["type"] == "tool_call"]


def _snapshot(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder; links by their target."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if any(part in IGNORED for part in name.parts):
            continue
        if path.is_symlink():
            found[str(name)] = b"->" + os.readlink(path).encode()
        elif path.is_file():
            found[str(name)] = path.read_bytes()
    return found


def _check_answers(check: dict[str, Any], outcome: Outcome) -> list[str]:
    last = outcome.answers[-1] if outcome.answers else ""
    texts = "\n".join(outcome.answers)
    problems = [f"answer lacks {each}" for each in check.get("answer", []) if not _finds(each, last)]
    problems += [f"answer has {each}" for each in check.get("answer_not", []) if _finds(each, last)]
    problems += [f"no answer has {each}" for each in check.get("any_answer", []) if not _finds(each, texts)]
    if check.get("no_tools") and outcome.calls:
        problems.append(f"called {outcome.calls[0]}")
    return problems


def _finds(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _check_files(check: dict[str, Any], folder: Path) -> list[str]:
    problems = []
    for name, wanted in check.get("files", {}).items():
        path = folder / name
        if wanted is None:
            problems += [f"{name} exists"] if path.exists() else []
        elif not path.is_file():
            problems.append(f"{name} is missing")
        else:
            problems += _check_text(name, path.read_bytes().decode(errors="replace"), wanted)
    return problems


def _check_text(name: str, text: str, wanted: dict[str, Any]) -> list[str]:
    problems = []
    if "equals" in wanted and text.removesuffix("\n") != wanted["equals"].removesuffix("\n"):
        problems.append(f"{name} is not as wanted")
    problems += [f"{name} lacks {part!r}" for part in wanted.get("contains", []) if part not in text]
    problems += [f"{name} still has {part!r}" for part in wanted.get("lacks", []) if part in text]
    if "json" in wanted:
        try:
            problems += [] if _includes(json.loads(text), wanted["json"]) else [f"{name} has other values"]
        except ValueError:
            problems.append(f"{name} is not JSON")
    return problems


def _includes(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and _includes(found[key], value) for key, value in wanted.items()
        )
    return bool(found == wanted)


def _wrong_changes(check: dict[str, Any], before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Return the files that were changed, created or deleted although the order does not ask for it."""
    allowed = [*check.get("files", {}), *check.get("may_change", [])]
    changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    return sorted(name for name in changed if not any(fnmatch.fnmatch(name, each) for each in allowed))


def _check_command(check: dict[str, Any], folder: Path, environ: dict[str, str]) -> list[str]:
    """Run the order's own command on what the model wrote, in the sandbox."""
    if "run" not in check:
        return []
    wanted = check["run"]
    sandboxed = [sys.executable, "-m", "bridle", "sandbox", "run", "--", "bash", "-c", wanted["command"]]
    try:
        done = subprocess.run(
            sandboxed,
            cwd=folder,
            env=environ,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=COMMAND_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [f"{wanted['command']} did not end"]
    text = done.stdout.decode(errors="replace")
    return [] if re.search(wanted["stdout"], text) else [f"{wanted['command']} prints {text[-100:]!r}"]


# ---------------------------------------------------------------------------- report


def format_table(outcomes: list[Outcome]) -> str:
    """Return a row for each family and the total."""
    families: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        families[outcome.order["family"]].append(outcome)
    rows = [f"{'family':<12}{'score':>10}{'wrong changes':>16}{'needless calls':>16}{'seconds':>10}"]
    for name, those in [*families.items(), ("all", outcomes)]:
        score = f"{sum(each.passed for each in those)}/{len(those)}"
        wrong = sum(bool(each.wrong_changes) for each in those)
        called = sum(bool(each.calls) and bool(each.order["check"].get("no_tools")) for each in those)
        seconds = sum(each.seconds for each in those) / max(1, len(those))
        rows.append(f"{name:<12}{score:>10}{wrong:>16}{called:>16}{seconds:>10.1f}")
    return "\n".join(rows)


def format_outcome(outcome: Outcome) -> str:
    """Return one order with what came of it, on a few lines."""
    verdict = "pass" if outcome.passed else "FAIL"
    lines = [f"{verdict} {outcome.order['id']} ({outcome.seconds:.1f} s): {outcome.order['turns']}"]
    if not outcome.passed:
        lines += [f"     {each}" for each in [*outcome.problems, *outcome.wrong_changes]]
        lines += [f"     call {each[:300]}" for each in outcome.calls]
        lines += [f"     said {each[:300]!r}" for each in outcome.answers]
    return "\n".join(lines)


def main() -> int:
    """Play the chosen orders and print the table; return 1 if there are none."""
    args = _parse()
    files = args.file or sorted(EVAL.glob(f"{args.set}-*.jsonl"))
    orders = read_orders(files, args.family, args.limit)
    if args.every > 1:
        orders = orders[:: args.every]
    if not orders:
        print("no orders", file=sys.stderr)
        return 1
    outcomes = []
    with ThreadPoolExecutor(args.jobs) as pool:
        models = args.models.resolve()
        for outcome in pool.map(lambda order: play(order, args.model, models, args.mode), orders):
            outcomes.append(outcome)
            if args.verbose:
                print(format_outcome(outcome), flush=True)
    print(format_table(outcomes))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor seconds per order: {(used.ru_utime + used.ru_stime) / len(orders):.1f}")
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=["tuning", "heldout"], default="tuning")
    parser.add_argument("--file", type=Path, action="append", help="a file of orders, in place of a set")
    parser.add_argument("--family", action="append", default=[], help="only this family (repeatable)")
    parser.add_argument("--limit", type=int, default=0, help="play only the first N orders")
    parser.add_argument("--every", type=int, default=1, help="play only every Nth order")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument(
        "--mode", choices=MODES, default="yolo", help="with ask and plan, only wrong changes are counted"
    )
    parser.add_argument("--models", type=Path, default=Path.home() / ".bridle" / "models", help="weights")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verbose", "-v", action="store_true", help="print every order")
    return parser.parse_args()


if __name__ == "__main__":
    if shutil.which("bash") is None:
        sys.exit("error: the orders need bash")
    sys.exit(main())
