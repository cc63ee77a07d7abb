"""Hostile git repositories: their history, and configs that make git run or read something."""

import os
import random
import shutil
import subprocess
from pathlib import Path

from msgspec import Struct

PLAIN = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
_GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false")
_ENVIRONMENT = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
    "GIT_CONFIG_NOSYSTEM": "1",
}
_SIGNED = """tree {tree}
parent {parent}
author a <a@example.com> 1700000001 +0000
committer a <a@example.com> 1700000001 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 abc
 -----END PGP SIGNATURE-----

signed
"""
_OLD_S = 1_600_000_000
_COMMITTED = ("a.txt", "b.txt", "src", "sub/x", "deep", "expr", "names/-o", "twin")

_TRAPS = """
core||fsmonitor|@ fsmonitor
core||pager|@ pager
core||editor|@ editor
core||hooksPath|@hooks
core||sshCommand|@ ssh
core||gitProxy|@ proxy
core||alternateRefsCommand|@ alternates
core||attributesFile|^attributes
core||excludesFile|^token
core||worktree|^
core||bare|true
core||askPass|@
diff||external|@ external
diff||orderFile|^token
diff|canary|textconv|@ textconv
diff|canary|command|@ command
diff|canary|xfuncname|x
filter|canary|clean|@ clean
filter|canary|smudge|@ smudge
filter|canary|process|@ process
filter|canary|required|true
gpg||program|@
gpg|ssh|program|@
gpg||format|ssh
log||showSignature|true
pager||status|@ pager-status
pager||diff|@ pager-diff
pager||log|@ pager-log
interactive||diffFilter|@ diff-filter
alias||status|!@ alias
alias||st|!@ alias
trace2||eventTarget|^P
include||path|more
includeIf|gitdir:**|path|more
includeIf|onbranch:main|path|more
blame||ignoreRevsFile|^token
mailmap||file|^token
extensions||worktreeConfig|true
extensions||partialClone|origin
remote|origin|promisor|true
remote|origin|uploadpack|@ uploadpack
remote|origin|url|ext::@ url
submodule||recurse|true
status||submoduleSummary|true
uploadpack||packObjectsHook|@ pack
credential||helper|!@ helper
difftool|canary|cmd|@ tool
merge|canary|driver|@ merge
grep||fallbackToNoIndex|true
""".strip().splitlines()
"""section|subsection|key|value; @ is the canary program, ^ the folder outside."""


class Config(Struct, frozen=True):
    """The settings of a repository."""

    name: str
    text: str


def make_repository(folder: Path) -> None:
    """Commit the content of a folder twice, once with a signature."""
    names = [name for name in _COMMITTED if (folder / name).exists()]
    _run(folder, "init", "-q", "-b", "main")
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink() and ".git" not in path.parts:
            os.utime(path, (_OLD_S, _OLD_S))  # or git writes an index again only because it is not sure
    _run(folder, "add", "--", *names)
    _run(folder, "commit", "-q", "-m", "first")
    ids = {"tree": _run(folder, "rev-parse", "HEAD^{tree}"), "parent": _run(folder, "rev-parse", "HEAD")}
    signed = _run(folder, "hash-object", "-t", "commit", "-w", "--stdin", text=_SIGNED.format(**ids))
    _run(folder, "update-ref", "HEAD", signed)
    git = folder / ".git"
    for name in ("hooks", "logs"):
        shutil.rmtree(git / name, ignore_errors=True)
    (git / "hooks").mkdir()
    (git / "config.worktree").write_text("")


def plain_config() -> Config:
    """Return what `git init` writes."""
    return Config("plain", PLAIN)


def hostile_config(canary: Path, outside: Path) -> Config:
    """Return settings with most traps in them."""
    broken = (
        "worktree",
        "bare",
        "partialClone",
        "promisor",
        "format",
        "required",
        "process",
        "worktreeConfig",
    )
    traps = [trap.split("|") for trap in _TRAPS]
    kept = [trap for trap in traps if trap[2] not in broken and trap[0] not in ("include", "includeIf")]
    lines = [_entry(section, part, key, _value(value, canary, outside)) for section, part, key, value in kept]
    return Config("hostile", PLAIN + "".join(lines))


def made_config(chance: random.Random, canary: Path, outside: Path) -> Config:
    """Return settings with one trap or two, written in some way that git understands."""
    text = PLAIN
    for trap in chance.sample(_TRAPS, chance.choice((1, 1, 2))):
        section, part, key, value = trap.split("|")
        text = _written(chance, text, section, part, key, _value(value, canary, outside))
    return Config(text.removeprefix(PLAIN).strip() or "made", text)


def _written(chance: random.Random, text: str, section: str, part: str, key: str, value: str) -> str:
    entry = _entry(section, part, key, value)
    header = entry.partition("\n")[0]
    match chance.randrange(12):
        case 0:
            return f"{text}{header} {key} = {value}\n"
        case 1:
            return f"{text}{header}{key}={value}\n"
        case 2:
            return text + entry.replace(section, section.upper(), 1).replace(key, key.upper(), 1)
        case 3 if part and part.isalnum():
            return f"{text}[{section}.{part}]\n\t{key} = {value}\n"
        case 4:
            return f'{text}{header}\n\t{key} = "{value}"\n'
        case 5:
            return f"{text}{header}\n\t{key} = \\\n{value}\n"
        case 6:
            return (text + entry).replace("\n", "\r\n")
        case 7:
            return f"\ufeff{text}{entry}"
        case 8:
            return f"{text}{header} # [core]\n\t{key} = {value} ; x\n"
        case 9:
            return f"{text}[alias] x = y\\\n\n{entry}"
        case 10:
            return f"{entry}{text}"
        case _:
            return text + entry


def _entry(section: str, part: str, key: str, value: str) -> str:
    header = f'[{section} "{part}"]' if part else f"[{section}]"
    return f"{header}\n\t{key} = {value}\n"


def _value(value: str, canary: Path, outside: Path) -> str:
    return (
        value.replace("@hooks", f"{canary.parent}/hooks")
        .replace("@", str(canary))
        .replace("^", f"{outside}/")
    )


def _run(folder: Path, *words: str, text: str = "") -> str:
    done = subprocess.run(
        [*_GIT, *words],
        cwd=folder,
        env=_ENVIRONMENT,
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    return done.stdout.strip()
