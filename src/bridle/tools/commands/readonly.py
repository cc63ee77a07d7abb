"""Whether a command only reads: only what is listed, with listed flags, is ever taken for that."""

import re
from collections.abc import Sequence

from bridle.tools.commands.fields import Field
from bridle.tools.commands.flags import Arguments, sort_arguments
from bridle.tools.commands.programs import Program, git_command, known_program, program, reading_program

_GIT_GLOBAL = ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects")
_GIT_CONFIG = program(
    "text",
    "lz --list --get --get-all --get-regexp --get-urlmatch --show-origin --show-scope --name-only --null"
    " --global --local --system --worktree --includes --no-includes --type: --bool --int --path --default:",
)
_GIT_WORDS = frozenset(
    "stash list,stash show,reflog,reflog show,worktree list,remote,remote -v,remote --verbose,--version,"
    "config list,config list --local,config list --global".split(",")
)

_FIND_WITH_VALUE = frozenset(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -maxdepth -mindepth -size"
    " -mtime -mmin -ctime -cmin -atime -amin -newer -samefile -perm -user -group -uid -gid -links -inum"
    " -printf -regextype -lname -ilname -fstype -used".split()
)
_FIND_ALONE = frozenset(
    "-H -L -P -print -print0 -ls -prune -o -or -a -and -not ! ( ) , -depth -xdev -mount -follow -true -false"
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

# Not those that take their version, or where they lie, from a file of the project: cargo, yarn, mvn, go…
_VERSIONED = frozenset(
    "python python3 node java javac ruby perl php gcc g++ clang make cmake docker kubectl pip pip3 bash zsh"
    " gh jq rg".split()
)
_VERSIONS = frozenset("docker version,node -v,python -V,python3 -V".split(","))
_NO_OPERANDS = frozenset(
    "umask hostname env set alias tty groups uptime free whoami logname arch times".split()
)
_PS_OPERANDS = frozenset("a x ax aux auxw auxww axu".split())


def is_reading(name: str, fields: Sequence[Field]) -> bool:
    """Tell whether a program called by its bare name with these arguments changes nothing."""
    if name in ("echo", ":"):
        return all(field.value is not None or field.is_harmless for field in fields)
    values = [field.value for field in fields if field.value is not None]
    if len(values) < len(fields):
        return False
    if name == "git":
        return _git_reads(values, fields)
    if (name in _VERSIONED and values == ["--version"]) or " ".join([name, *values]) in _VERSIONS:
        return True
    if name in ("test", "["):  # -v works out the subscripts of arrays, and runs what stands in them
        return not any(set("$`") & set(value) for value in values)
    if name == "printf":
        return bool(values) and not values[0].startswith("-")
    if name == "find":
        return _find_reads(values)
    if name == "sed":
        return _sed_reads(fields)
    if name in ("export", "declare", "readonly"):
        return values == ["-p"]
    if name == "command":
        return values[:1] in (["-v"], ["-V"])
    known = reading_program(name)
    return known is not None and _flags_read(name, known, sort_arguments(fields, known))


def _flags_read(name: str, known: Program, arguments: Arguments) -> bool:
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


def _git_reads(values: Sequence[str], fields: Sequence[Field]) -> bool:
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
    if known is None:
        return False
    arguments = sort_arguments(rest[1:], known)
    if words[0] in ("branch", "tag") and arguments.operands:
        return arguments.is_understood and ("-l" in arguments.flags or "--list" in arguments.flags)
    return arguments.is_understood


def _find_reads(values: Sequence[str]) -> bool:
    index = 0
    while index < len(values) and (
        values[index] in ("-H", "-L", "-P") or values[index][:1] not in ("-", "(", "!")
    ):
        index += 1
    while index < len(values):
        if values[index] in _FIND_WITH_VALUE:
            index += 2
        elif values[index] in _FIND_ALONE:
            index += 1
        else:
            return False
    return True


def _sed_reads(fields: Sequence[Field]) -> bool:
    """Tell whether a sed script is made of plain printing, deleting and replacing only."""
    known = known_program("sed")
    arguments = sort_arguments(fields, known) if known is not None else None
    if arguments is None or not arguments.is_understood or not _SED_FLAGS.issuperset(arguments.flags):
        return False
    scripts = [script for flag in ("-e", "--expression") for script in arguments.flags.get(flag, ())]
    scripts = scripts or list(arguments.operands[:1])
    return bool(scripts) and all(_SED_SCRIPT.fullmatch(script.value or "") for script in scripts)
