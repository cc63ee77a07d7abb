"""Decide whether a command is read-only: only listed programs with listed flags count."""

import re
from collections.abc import Sequence

from bridle.tools.commands.arguments import SortedArguments, sort_arguments
from bridle.tools.commands.expansion import Argument
from bridle.tools.commands.program_tables import Program, git_command, known_program, program, reading_program

_GIT_GLOBAL = ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects")
_GIT_SIGNATURE = re.compile("%G|signature")  # makes git run the program that checks signatures
_GIT_CONFIG = program(
    "text",
    "lz --list --get --get-all --get-regexp --get-urlmatch --show-origin --show-scope --name-only --null"
    " --global --local --system --worktree --includes --no-includes --type: --bool --int --path --default:",
)
_GIT_WORDS = frozenset(
    "stash list,stash show,reflog,reflog show,worktree list,remote,remote -v,remote --verbose,--version,"
    "config list,config list --local,config list --global".split(",")
)

_GIT_SUMMARIES = frozenset(
    "--stat --numstat --shortstat --name-only --name-status --summary --raw --quiet -s --no-patch"
    " --compact-summary --dirstat".split()
)
_GIT_DIFFS = ("diff", "diff-tree", "diff-index", "diff-files")
_GIT_LOG = _GIT_SUMMARIES | frozenset(
    "--oneline --graph --pretty --format --abbrev-commit --all --branches --tags --remotes --author"
    " --committer --grep --since --until --after --before --max-count -n --skip --reverse --first-parent"
    " --merges --no-merges --decorate --no-decorate --follow --date --topo-order --date-order --cached"
    " --staged --diff-filter --no-color --color --no-renames --find-renames -M -i".split()
)
_GIT_QUIET: dict[str, frozenset[str]] = {
    "log": _GIT_LOG,
    "shortlog": _GIT_LOG | frozenset({"-s", "-n", "-e"}),
    "reflog": _GIT_LOG,
    **dict.fromkeys(_GIT_DIFFS, _GIT_LOG),
} | {
    command: frozenset(flags.split())
    for command, _, flags in (
        row.strip().partition(" ")
        for row in """
        --version
        add -A -u -f -n -N --all --update --force --intent-to-add
        branch -a -l -r -v -vv --all --list --remotes --verbose --show-current --contains --merged --no-merged
        checkout -b -B -q -f -t --quiet --force --track --detach
        commit -m -a -q -n -s -F --message --all --amend --no-edit --allow-empty --signoff --quiet --file
        config -l --list --get --get-all --get-regexp --global --local --show-origin
        count-objects -v -H
        describe --tags --always --long --dirty --abbrev --all --exact-match
        fetch -p -a --all --prune --tags --depth --quiet
        init -q -b --quiet --bare
        ls-files -c -o -m -d -s -t -z --cached --others --modified --deleted --exclude-standard --stage
        ls-tree -r -t -d -l -z --name-only --long --full-tree
        merge --ff-only --no-ff --no-edit --abort --continue --squash -m
        merge-base -a --all --is-ancestor
        pull --rebase --ff-only --no-rebase --quiet
        push -u -f -q --set-upstream --tags --force --force-with-lease --quiet
        rebase --abort --continue --skip
        remote -v --verbose
        reset -q --hard --soft --mixed --quiet
        rev-list --all --count --max-count -n
        rev-parse --abbrev-ref --show-toplevel --short --verify --git-dir --is-inside-work-tree
        rm -r -f -q --cached
        show-ref --heads --tags --head
        status -s -b -z -u --short --branch --porcelain --untracked-files --ignored --long --show-stash
        switch -c -q --create --quiet --detach
        tag -l -n -a -m -d --list --sort --contains
        version --build-options
        """.strip().splitlines()
    )
}
"""Flags with which git at most names files; with any other flag, it may show their content."""

_FIND_WITH_VALUE = frozenset(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -maxdepth -mindepth -size"
    " -mtime -mmin -ctime -cmin -atime -amin -newer -samefile -perm -user -group -uid -gid -links -inum"
    " -printf -regextype -lname -ilname -fstype -used".split()
)
_FIND_ALONE = frozenset(
    "-H -P -print -print0 -ls -prune -o -or -a -and -not ! ( ) , -depth -xdev -mount -true -false"
    " -quit -executable -readable -writable -empty -daystart -noleaf -nouser -nogroup".split()
)

_SED_FLAGS = frozenset("-n -E -r -s -u -z -e --quiet --silent --regexp-extended --expression".split())
_SED_ADDRESS = r"(?:(?:\d+|\$|/[^/\\\n;{}]*/)(?:,(?:\+?\d+|\$|/[^/\\\n;{}]*/))?!?)?"
_SED_REPLACE = "|".join(
    rf"s{mark}(?:[^{mark}\\\n]|\\[^\n])*{mark}(?:[^{mark}\\\n]|\\[^\n])*{mark}[gpiI\d]*"
    for mark in ("/", r"\|", "#", ",", "@")
)
_SED_COMMAND = rf"{_SED_ADDRESS}(?:[pdqD=]|{_SED_REPLACE})"
_SED_SCRIPT = re.compile(rf"{_SED_COMMAND}(?:[ ]*;[ ]*{_SED_COMMAND})*;?", re.ASCII)

# Not those that take their version or location from a file in the project: cargo, yarn, mvn, go…
_VERSIONED = frozenset(
    "python python3 node java javac ruby perl php gcc g++ clang make cmake docker kubectl pip pip3 bash zsh"
    " gh jq rg".split()
)
_VERSIONS = frozenset("docker version,node -v,python -V,python3 -V".split(","))
_NO_OPERANDS = frozenset(
    "umask hostname env set alias tty groups uptime free whoami logname arch times".split()
)
# Without `%n`, which sets a variable. The other conversions only print.
_PRINTF = re.compile(
    r"(?:[^%]++|%%|%[-+ #0']*+(?:\d++|\*)?(?:\.(?:\d++|\*)?)?[bcdeEfFgGiosuxXq])*+", re.DOTALL
)
_XXD_FLAG = re.compile(r"-(?:[abCdeEipu]|[cgls]\d*)", re.ASCII)
_JQ_MODULES = re.compile(r"\b(?:import|include)\b")
# Not -v and -R, which evaluate array subscripts and run the commands in them.
_TESTS = frozenset("-b -c -d -e -f -g -h -k -n -p -r -s -u -w -x -z -G -L -N -O -S".split())
_COMPARISONS = frozenset("= == != < > -nt -ot -ef".split())
_NUMBER_COMPARISONS = frozenset("-eq -ne -lt -le -gt -ge".split())
_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)
_PS_OPERANDS = frozenset("a x ax aux auxw auxww axu".split())


def is_read_only(name: str, fields: Sequence[Argument]) -> bool:
    """Return whether a program, called by its bare name with these arguments, changes nothing."""
    if name in ("echo", ":"):
        return all(field.value is not None or field.is_harmless for field in fields)
    values = [field.value for field in fields if field.value is not None]
    if len(values) < len(fields):
        return False
    if name == "git":
        return _git_reads(values, fields)
    if (name in _VERSIONED and values == ["--version"]) or " ".join([name, *values]) in _VERSIONS:
        return True
    if name in ("test", "["):
        return _test_reads(values if name == "test" else values[:-1])
    if name == "printf":
        return bool(values) and not values[0].startswith("-") and _PRINTF.fullmatch(values[0]) is not None
    if name == "jq" and any(_JQ_MODULES.search(value) for value in values):
        return False
    if name == "find":
        return _find_reads(values)
    if name == "sed":
        return _sed_reads(fields)
    if name in ("export", "declare", "readonly"):
        return values == ["-p"]
    if name == "command":
        return values[:1] in (["-v"], ["-V"])
    if name == "strings" and any(value.startswith("@") for value in values):
        return False  # strings would read its arguments from that file
    known = reading_program(name)
    if name == "xxd" and known is not None and not _xxd_reads(values, sort_arguments(fields[:-1], known)):
        return False
    return known is not None and _flags_read(name, known, sort_arguments(fields, known))


def _xxd_reads(values: Sequence[str], before_last: SortedArguments) -> bool:
    """Return whether xxd only prints: it takes one flag per word, and writes to a second file."""
    flags = [value for value in values if value.startswith("-") and value != "-"]
    return not before_last.operands and all(_XXD_FLAG.fullmatch(flag) for flag in flags)


def _test_reads(values: Sequence[str]) -> bool:
    """Return whether these are plain tests of strings, numbers and files."""
    values = values[1:] if values[:1] == ["!"] else values
    match values:
        case [] | [_]:
            return True
        case [operator, _]:
            return operator in _TESTS
        case [left, operator, right]:
            is_number = bool(_NUMBER.fullmatch(left) and _NUMBER.fullmatch(right))
            return operator in _COMPARISONS or (operator in _NUMBER_COMPARISONS and is_number)
        case _:
            return False


def _flags_read(name: str, known: Program, arguments: SortedArguments) -> bool:
    if not arguments.is_understood or arguments.writes:
        return False
    operands = [operand.value or "" for operand in arguments.operands]
    if name in _NO_OPERANDS:
        return not operands
    if name == "date":
        return all(operand.startswith("+") for operand in operands)
    if name == "ps":
        return all(operand in _PS_OPERANDS for operand in operands)
    return known.operands != "second" or len(operands) < 2


def _git_reads(values: Sequence[str], fields: Sequence[Argument]) -> bool:
    start = 0
    while start < len(values) and values[start] in _GIT_GLOBAL:
        start += 1
    words, rest = values[start:], fields[start:]
    if " ".join(words) in _GIT_WORDS:
        return True
    if not words:
        return False
    if words[:2] == ["remote", "get-url"] or words[:2] == ["config", "get"]:
        return not any(word.startswith("-") for word in words[2:])
    if words[0] == "config":
        arguments = sort_arguments(rest[1:], _GIT_CONFIG)
        reads = any(
            flag in arguments.flags for flag in ("-l", "--list", "--get", "--get-all", "--get-regexp")
        )
        return arguments.is_understood and reads
    known = git_command(words[0])
    if known is None or any(map(_GIT_SIGNATURE.search, words)):
        return False
    arguments = sort_arguments(rest[1:], known)
    if words[0] in ("branch", "tag") and arguments.operands:
        return arguments.is_understood and ("-l" in arguments.flags or "--list" in arguments.flags)
    return arguments.is_understood


def git_shows_contents(values: Sequence[str | None]) -> bool:
    """Return whether git may print current or past content of files, or copy it elsewhere."""
    start = 0
    while start < len(values) and values[start] in _GIT_GLOBAL:
        start += 1
    command, *rest = values[start:] or [""]
    quiet = _GIT_QUIET.get(command or "")
    flags = [flag for word in rest if word is not None for flag in _flags_in(word)]
    if quiet is None or None in rest or not all(flag in quiet or flag[1:].isdigit() for flag in flags):
        return True
    return command in _GIT_DIFFS and _GIT_SUMMARIES.isdisjoint(flags)


def _flags_in(word: str) -> list[str]:
    """Return the flags in a word: one long flag, or each letter of combined short flags."""
    if word.startswith("--") or not word.startswith("-") or word[1:].isdigit():
        return [word.partition("=")[0]] if word.startswith("-") and word != "--" else []
    return [f"-{letter}" for letter in word[1:]]


def _find_reads(values: Sequence[str]) -> bool:
    index = 0
    while index < len(values) and (values[index] in ("-H", "-P") or values[index][:1] not in ("-", "(", "!")):
        index += 1
    while index < len(values):
        if values[index] in _FIND_WITH_VALUE:
            index += 2
        elif values[index] in _FIND_ALONE:
            index += 1
        else:
            return False
    return True


def _sed_reads(fields: Sequence[Argument]) -> bool:
    """Return whether a sed script only prints, deletes and replaces text."""
    known = known_program("sed")
    arguments = sort_arguments(fields, known) if known is not None else None
    if arguments is None or not arguments.is_understood or not _SED_FLAGS.issuperset(arguments.flags):
        return False
    scripts = [script for flag in ("-e", "--expression") for script in arguments.flags.get(flag, ())]
    scripts = scripts or list(arguments.operands[:1])
    return bool(scripts) and all(_SED_SCRIPT.fullmatch(script.value or "") for script in scripts)
