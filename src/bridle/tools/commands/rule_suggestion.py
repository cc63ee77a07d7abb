"""Suggest a permanent rule for similar commands: general enough to be useful, never too broad."""

import re
from collections.abc import Sequence

from bridle.tools.commands.expansion import Argument

_CARELESS = frozenset(
    # shells and interpreters: they run code from their arguments
    """
    bash sh zsh dash ksh mksh ash rbash fish csh tcsh python python2 python3 pypy pypy3 ipython node deno bun
    perl ruby irb php lua luajit awk gawk mawk nawk sed tclsh expect osascript pwsh powershell R Rscript julia
    ghci vi vim nvim view emacs ed ex nano gdb lldb sqlite3 psql mysql jshell groovy scala elixir erl
    """.split()
    # commands that run others
    + """
    env sudo doas su runuser xargs parallel find nohup setsid timeout time nice ionice chrt taskset stdbuf
    eval exec source . command builtin coproc trap watch script flock busybox toybox chroot unshare strace
    ltrace systemd-run ssh mosh tmux screen at batch crontab entr nsenter catchsegv docker-compose
    """.split()
    # commands that cannot be undone, or that send data away
    + """
    rm rmdir unlink shred mv cp ln install chmod chown chgrp chattr dd mkfs mount umount truncate tee kill
    killall pkill curl wget http https xh nc ncat netcat socat telnet ftp lftp sftp scp rsync tar zip unzip
    patch reboot shutdown halt poweroff iptables less more man
    """.split()
    # commands that change the shell itself
    + """
    alias unalias bind compgen complete declare typeset enable export fc hash let local mapfile readarray read
    readonly set shopt unset umask ulimit wait cd pushd popd printf
    """.split()
)

_WITH_SUBCOMMANDS = frozenset(
    """
    git npm pnpm yarn cargo go docker podman kubectl pip pip3 uv uvx poetry pdm pipenv make gmake just task gh
    glab brew apt apt-get dnf yum pacman systemctl terraform tofu dotnet mvn gradle gradlew rustup conda mamba
    helm bundle gem npx pipx bunx rake mix composer flutter dart swift nx turbo lerna ansible aws gcloud az
    tox nox bridle cmake ctest bazel hatch rye jj hg svn
    """.split()
)
_DEEPER = frozenset(
    "npm run,npm run-script,pnpm run,yarn run,uv run,uv pip,poetry run,pipenv run,pdm run,hatch run,rye run,"
    "bundle exec,docker compose,docker image,docker container,go mod,gh pr,gh issue,gh repo,gh run,"
    "gh workflow,git stash,git remote,git worktree,kubectl config,pipx run,composer run-script".split(",")
)
_RUNNERS = frozenset(
    "npx,uvx,bunx,uv run,poetry run,pipenv run,pdm run,hatch run,rye run,bundle exec,pipx run".split(",")
)
_CARELESS_WORDS = frozenset(
    "git config,git filter-branch,git bisect,git submodule,git difftool,git mergetool,git daemon,git rebase,"
    "git clean,docker run,docker exec,podman run,podman exec,kubectl exec,npm exec,npm x,pnpm dlx,pnpm exec,"
    "yarn dlx,yarn exec,uv tool,gh api,gh alias,npm publish,cargo publish,gem push,go generate,aws s3,"
    "go tool,conda run".split(",")
)
_PLAIN = re.compile(r"[A-Za-z0-9_@+][A-Za-z0-9_@+./:=-]*")
_SCRIPT = re.compile(r"\.{0,2}/?[A-Za-z0-9_@+./-]+")


def suggest_rule_pattern(fields: Sequence[Argument]) -> str:
    """Return a rule pattern for commands like this one; empty where a prefix would be too broad."""
    program = fields[0].value
    if program is None or not _SCRIPT.fullmatch(program):
        return ""
    if "/" in program:
        is_own = not program.startswith("/") and ".." not in program.split("/")
        return f"{program}:*" if is_own and program.rpartition("/")[2] not in _CARELESS else ""
    if (
        program in _CARELESS
        or not _PLAIN.fullmatch(program)
        or re.match(r"(python|ruby|perl|lua)\d", program)
    ):
        return ""
    if program not in _WITH_SUBCOMMANDS:
        return f"{program}:*"
    if len(fields) == 1:
        return program
    words = [program]
    for field in fields[1:4]:
        if field.value is None or not _PLAIN.fullmatch(field.value):
            break
        words.append(field.value)
        if " ".join(words[:2]) not in _DEEPER or len(words) == 3:
            break
    prefix = " ".join(words)
    is_careless = len(words) < 2 or prefix in _CARELESS_WORDS or " ".join(words[:2]) in _CARELESS_WORDS
    runs_another = program in _RUNNERS or " ".join(words[:2]) in _RUNNERS
    if is_careless or prefix in _DEEPER or (runs_another and words[-1] in _CARELESS):
        return ""
    return f"{prefix}:*"
