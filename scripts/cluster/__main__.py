"""The commands of `python -m scripts.cluster`."""

import argparse
import os
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from scripts.cluster.compose import ComposeError, read_services
from scripts.cluster.places import Places
from scripts.cluster.state import ClusterState, is_supervised, locked, read_state
from scripts.cluster.supervisor import LOOK_S, Supervisor

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PATIENCE_S = 120.0
PASSWORD = "BRIDLE_DATABASE_PASSWORD"
IMAGE_PROGRAMS = {"bridle-health": "health.py", "bridle-certificates": "certificates.sh"}


def main() -> int:
    """Run a command; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.cluster", description="A cluster without containers"
    )
    usual = Path(tempfile.gettempdir()) / f"bridle-cluster-{os.getuid()}"
    parser.add_argument("--folder", type=Path, default=usual, help="the cluster's folder (%(default)s)")
    commands = parser.add_subparsers(dest="word", required=True)
    up = commands.add_parser("up", help="start all services")
    up.add_argument("--detach", action="store_true", help="in the background")
    up.add_argument("--file", type=Path, default=DEPLOY / "compose.yaml", help="the compose file")
    status = commands.add_parser("status", help="show the state of the services")
    status.add_argument("--json", action="store_true")
    down = commands.add_parser("down", help="stop all services")
    down.add_argument("--keep", action="store_true", help="keep the data for the next start")
    execute = commands.add_parser("exec", help="run a command as in the container of a service")
    execute.add_argument("service")
    execute.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    args.folder = args.folder.absolute()
    try:
        return COMMANDS[args.word](args)
    except (ComposeError, OSError) as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1


def _up(args: argparse.Namespace) -> int:
    _make_folder(args.folder)
    if args.detach:
        return _detach(args)
    with locked(args.folder) as is_ours:
        if not is_ours:
            raise ComposeError(f"a cluster already runs in {args.folder} (hint: down, or another --folder)")
        return _keep(args)


def _keep(args: argparse.Namespace) -> int:
    services = read_services(args.file)
    places = Places(args.folder, services, _values(args))
    programs = args.folder / "bin"
    for name, script in IMAGE_PROGRAMS.items():
        (programs / name).unlink(missing_ok=True)
        (programs / name).symlink_to(DEPLOY / script)
    supervisor = Supervisor(places, services, programs)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, supervisor.end)
    is_told = False
    try:
        while not supervisor.is_ending:
            supervisor.look()
            for name in supervisor.state.failed:
                print(f"cluster: {name} failed: {_last_line(args.folder, name)}", file=sys.stderr)
                return 1
            if supervisor.state.is_settled and not is_told:
                is_told = True
                _show(supervisor.state)
            time.sleep(LOOK_S)
    finally:
        supervisor.stop()
        (args.folder / "state.json").unlink(missing_ok=True)
    return 0


def _detach(args: argparse.Namespace) -> int:
    log = args.folder / "logs" / "cluster.log"
    with log.open("wb") as output:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "scripts.cluster", "--folder", args.folder, "up", "--file", args.file],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    deadline = time.monotonic() + PATIENCE_S
    while supervisor.poll() is None and time.monotonic() < deadline:
        state = read_state(args.folder)
        if state is not None and state.supervisor == supervisor.pid and state.is_settled:
            _show(state)
            return 0
        time.sleep(LOOK_S)
    if supervisor.poll() is None:
        supervisor.terminate()
        supervisor.wait()
        print(f"cluster: not all services were healthy after {PATIENCE_S:.0f} s", file=sys.stderr)
    print(log.read_text().strip(), file=sys.stderr)
    return 1


def _status(args: argparse.Namespace) -> int:
    state = _running(args.folder)
    if args.json:
        print(msgspec.json.encode(state).decode())
    else:
        _show(state)
    return 0


def _down(args: argparse.Namespace) -> int:
    state = read_state(args.folder)
    if state is not None:
        os.kill(state.supervisor, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE_S
    while is_supervised(args.folder):
        if time.monotonic() > deadline:
            raise ComposeError(f"process {state.supervisor if state else '?'} does not stop")
        time.sleep(LOOK_S)
    if not args.keep:
        shutil.rmtree(args.folder, ignore_errors=True)
    print("all services have stopped" if state is not None else "no cluster runs")
    return 0


def _exec(args: argparse.Namespace) -> int:
    state = _running(args.folder).services.get(args.service)
    if state is None or not state.environment:
        raise ComposeError(f"there is no service {args.service} (hint: status)")
    environment = state.environment | {
        key: os.environ[key] for key in ("TERM", "NO_COLOR") if key in os.environ
    }
    sys.stdout.flush()
    os.chdir(state.folder)
    os.execvpe(args.command[0], args.command, environment)


def _running(folder: Path) -> ClusterState:
    state = read_state(folder)
    if state is None:
        raise ComposeError(f"no cluster runs in {folder} (hint: up)")
    return state


def _make_folder(folder: Path) -> None:
    """Create the folder of a cluster; raises ComposeError if it belongs to another user."""
    folder.mkdir(mode=0o711, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ComposeError(f"{folder} belongs to another user")
    folder.chmod(0o711)  # PostgreSQL may run as another user and must reach its own folder
    for name in ("bin", "logs", "services", "volumes"):
        (folder / name).mkdir(mode=0o711, exist_ok=True)


def _values(args: argparse.Namespace) -> dict[str, str]:
    """Return the values of the compose file's variables, always with a password."""
    found: dict[str, str] = {}
    env_file = args.file.parent / ".env"
    if env_file.exists():
        lines = (line.partition("=") for line in env_file.read_text().splitlines() if "=" in line)
        found = {key.strip(): value.strip() for key, _, value in lines if not key.lstrip().startswith("#")}
    found |= os.environ
    if not found.get(PASSWORD):
        kept_in = args.folder / "password"
        if not kept_in.exists():
            kept_in.touch(0o600)
            kept_in.write_text(secrets.token_urlsafe(24))
        found[PASSWORD] = kept_in.read_text()
    return found


def _show(state: ClusterState) -> None:
    rows = [("service", "state", "process", "restarts", "address")]
    for name, one in state.services.items():
        addresses = " ".join(one.addresses.values())
        rows.append((name, one.condition, str(one.pid or ""), str(one.restarts or ""), addresses))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), flush=True
        )


def _last_line(folder: Path, service: str) -> str:
    lines = (folder / "logs" / f"{service}.log").read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no output"


COMMANDS = {"up": _up, "status": _status, "down": _down, "exec": _exec}

if __name__ == "__main__":
    sys.exit(main())
