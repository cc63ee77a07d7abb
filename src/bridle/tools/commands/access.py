"""Analyze what a bash command line would do, as subjects that rules can match.

```
cd sub && FOO=1 git log > out.txt     command  cd sub             read
                                      path     sub                read     read_file
                                      command  FOO=1 git log      execute
                                      command  git log            read     git log:*
                                      path     sub/out.txt        write    write_file
```

Every simple command is a separate subject, wherever it is in the line. So is each command that another
command runs, and each path and host in its arguments. What cannot be known before the line runs is a doubt.
"""

import itertools
import os.path
from collections.abc import Iterator, Sequence

from bridle.core.errors import ToolError
from bridle.core.tool import Access, Subject
from bridle.tools.commands.accessed_files import (
    TEXT_ONLY,
    PathAccess,
    find_hosts,
    find_paths,
    opens_nothing,
    path_guesses,
)
from bridle.tools.commands.expansion import Argument, StepLimit, TooComplex, Variables, expand
from bridle.tools.commands.lexer import Word
from bridle.tools.commands.parser import parse_script
from bridle.tools.commands.path_resolver import PathResolver
from bridle.tools.commands.plain_grammar import NotPlain, check_plain
from bridle.tools.commands.read_only import git_shows_contents, is_read_only
from bridle.tools.commands.rule_suggestion import suggest_rule_pattern
from bridle.tools.commands.script import Block, Construct, Feed, Redirect, Script, SimpleCommand, Step
from bridle.tools.commands.wrappers import (
    SHELLS,
    Argv,
    CommandText,
    Inner,
    UnknownCommand,
    is_transparent,
    unwrap,
)

MAX_COMMANDS = 200
MAX_SUBJECTS = 2_000
MAX_TEXTS = 8
"""The maximum nesting of command lines, as in `bash -c 'bash -c …'`."""
MAX_WRAPPERS = 16
"""The maximum length of a chain of wrappers, as in `sudo env nice …`."""
MAX_FOLDERS = 8

_RESERVED = frozenset(
    "if then else elif fi do done case esac while until for select function in { } ! [[ ]] ((".split()
)
_STANDARD_STREAMS = ("0", "1", "2")
_NO_FILES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero")
_SAFE_SETTINGS = frozenset(
    "-e -u -x -eu -ex -eux -o +e +u +x -euo -eo -uo -euxo pipefail errexit nounset xtrace".split()
)
_FOLDER_FLAGS = ("--", "-L", "-P", "-e", "-@")
_SAME_SHELL = ("eval", "trap", "source", ".")


def shell_access(command: str, cwd: str, root: str, *, tool: str = "bash") -> Access:
    """Return what a command line would do; never raises: what cannot be determined is a doubt.

    `root` is the session's working directory, `cwd` the shell's current directory. Reads the disk.
    """
    reading = _CommandAnalysis(cwd, root)
    try:
        script = parse_script(command)
        try:
            script = check_plain(command, script)
        except NotPlain as error:
            reading.mark_unproven(f"cannot prove that this command line only reads: it has {error}")
        reading.run_script(script)
    except ToolError as error:
        reading.doubt(f"the command line cannot be analysed: {error}")
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, a person must look
        reading.doubt(f"an error in Bridle stopped the analysis of the command line: {error!r}")
    return reading.result(tool)


class _CommandAnalysis:
    """Walks through a command line in the shell's order, and tracks the current directory."""

    def __init__(self, cwd: str, root: str) -> None:
        self._places = PathResolver(root)
        self._cwds: tuple[str, ...] = (os.path.normpath(cwd),)
        self._subjects: dict[Subject, None] = {}
        self._commands = 0
        self._texts = 0
        self._wrappers = 0
        self._loops = 0
        self._has_changes = False
        self._doubts: dict[str, None] = {}
        self._unproven = ""
        self._unseen = ""
        self._effort = StepLimit()
        self._variables = Variables(self._effort)
        self._functions: frozenset[str] = frozenset()

    def result(self, tool: str) -> Access:
        doubt = next(iter(self._doubts), "")
        return Access(tool, "execute", tuple(self._subjects), doubt, self._unproven, self._unseen)

    def doubt(self, why: str) -> None:
        self._doubts[why] = None

    def mark_unproven(self, why: str) -> None:
        """Record why it is not proven that the line does only what its commands seem to do."""
        self._unproven = self._unproven or why

    def run_script(self, script: Script) -> None:
        for why in script.doubts:
            self.doubt(why)
        self._variables.assign(script.values)
        if "HOME" in script.values:
            self.doubt("the command line changes what ~ means")
        self._functions |= script.functions
        self._run(script.steps)

    def _run(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case SimpleCommand():
                    self._simple(step)
                case Construct():
                    self._add(Subject("command", step.source, "read" if step.is_harmless else "execute"))
                case Block():
                    self._block(step)

    def _block(self, block: Block) -> None:
        before = self._cwds
        self._loops += block.is_repeated
        self._run(block.steps)
        self._loops -= block.is_repeated
        if block.is_own_shell:
            self._cwds = before
        elif not block.is_certain:
            self._cwds = self._either(before, self._cwds)

    def _either(self, *folders: Sequence[str]) -> tuple[str, ...]:
        together = tuple(dict.fromkeys(itertools.chain(*folders)))
        if len(together) > MAX_FOLDERS:
            self.doubt("the command line moves through too many folders")
        return together[:MAX_FOLDERS]

    def _add(self, subject: Subject) -> None:
        if len(self._subjects) >= MAX_SUBJECTS:
            raise TooComplex(f"it touches more than {MAX_SUBJECTS} things")
        self._effort.spend()
        self._subjects[subject] = None

    def _fields(self, words: Sequence[Word]) -> list[Argument]:
        cwd = self._cwds[0] if len(self._cwds) == 1 else None
        return self._variables.fields(words, cwd)

    # ------------------------------------------------------------------ simple commands

    def _simple(self, simple: SimpleCommand) -> None:
        is_open = self._redirects(simple.redirects)
        fields = self._fields(simple.words)
        if simple.assignments:
            shown = [assignment.word.source for assignment in simple.assignments]
            shown += [field.shown for field in fields]
            self._add(Subject("command", " ".join(shown), "execute"))
        if not fields:
            return
        before = self._cwds
        self._argv(fields, simple.feed, is_certain=is_open and not simple.assignments)
        if simple.feed == "text":
            self._fed(fields, simple.text)
        if simple.assignments:
            self._cwds = self._either(before, self._cwds)

    def _redirects(self, redirects: Sequence[Redirect]) -> bool:
        """Record the opened files; return whether all read ones may be read without an approval."""
        is_open = True
        for redirect in redirects:
            fields = self._fields([redirect.target])
            reads = redirect.operator in ("<", "<&")
            target = fields[0].value if len(fields) == 1 else None
            if redirect.target.nested and redirect.target.source.startswith(("<(", ">(")):
                continue
            if redirect.operator in (">&", "<&") and target is not None and target.rstrip("-").isdigit():
                if target not in _STANDARD_STREAMS:
                    self.doubt(f"where descriptor {target} leads cannot be known before it runs")
                continue
            if target is None:
                self.doubt(f"the file name {redirect.target.source} cannot be resolved before it runs")
                self._paths([PathAccess(field, "read" if reads else "write") for field in fields])
            elif target.startswith(("/dev/tcp/", "/dev/udp/")):
                self._add(Subject("domain", target.split("/")[3].lower(), "network"))
            elif os.path.normpath(target) not in _NO_FILES and target != "-":
                touched = self._paths([PathAccess(fields[0], "read" if reads else "write")])
                if reads and not touched:
                    is_open = False
                    self._add(Subject("command", f"< {fields[0].shown}", "execute"))
        return is_open

    def _fed(self, fields: Sequence[Argument], text: Word | None) -> None:
        """Analyze the text that the command line feeds to a shell in it, which would run the text."""
        names = [os.path.basename(field.value or "") for field in fields]
        if SHELLS.isdisjoint(names) or any(field.value == "-c" for field in fields):
            return
        expanded = expand(text, {}) if text is not None else []
        if len(expanded) == 1 and expanded[0].value is not None:
            self._text(expanded[0].value, is_own_shell=True)
        else:
            self.doubt("the input of the shell cannot be known before it runs")

    def _argv(
        self, fields: Sequence[Argument], feed: Feed, *, is_certain: bool = True, has_more: bool = False
    ) -> None:
        """Record a command and what it accesses and runs; with `has_more`, its arguments are incomplete."""
        self._commands += 1
        if self._commands > MAX_COMMANDS:
            raise TooComplex(f"it contains more than {MAX_COMMANDS} commands")
        program = fields[0].value
        shown = " ".join(field.shown for field in fields)
        if program is None or program in _RESERVED or "{}" in program:
            self.doubt(f"the program name {fields[0].source} cannot be resolved before it runs")
            self._add(Subject("command", shown, "execute"))
            self._paths([PathAccess(field, is_guess=True) for field in fields[1:]])
            return
        if program in self._functions:
            self.doubt(f"the command line defines {program} itself")
        name = os.path.basename(program)
        inner = unwrap(name, fields[1:])
        passed_on = (
            len(inner[0].fields) if len(inner) == 1 and isinstance(inner[0], Argv) and name != "find" else 0
        )
        arguments = self._matched(fields[1 : len(fields) - passed_on])
        touches = self._touches(name, arguments, inner, has_more=has_more)
        if opens_nothing(name):  # it still shows the names that a pattern matches
            touches += [PathAccess(field) for field in fields[1:] if field.pattern]
        paths, is_open = self._named(touches, is_inside=name in ("cd", "pushd"))
        reads = is_certain and is_open and not has_more and self._is_reading(program, arguments, inner)
        self._look_for_unseen(name, arguments, has_more=has_more)
        self._add(
            Subject("command", shown, "read" if reads else "execute", general=suggest_rule_pattern(fields))
        )
        for subject in paths:
            self._add(subject)
            if ".git" in subject.value.split("/"):
                self._unseen = self._unseen or "the files of a repository contain all others"
        for host in find_hosts(name, arguments):
            self._add(Subject("domain", host, "network"))
        self._shell_effects(name, arguments, feed, inner, has_more=has_more)
        for item in inner:
            self._inner(name, item, feed)
        self._has_changes |= not reads

    def _is_reading(self, program: str, arguments: Sequence[Argument], inner: Sequence[Inner]) -> bool:
        if inner:
            return is_transparent(program) and all(isinstance(item, Argv) for item in inner)
        if program in ("cd", "pushd"):
            return self._folder_wanted(program, arguments) is not None
        if not is_read_only(program, arguments):
            return False
        if program == "git" and (why := next(filter(None, map(self._places.find_git_risk, self._cwds)), "")):
            self.mark_unproven(f"git may do more than read here: {why}")
        return not (program == "diff" and self._compares_folders(arguments))

    def _compares_folders(self, arguments: Sequence[Argument]) -> bool:
        """Return whether `diff` would follow links inside a folder."""
        values = [field.value or "" for field in arguments]
        is_folder = any(self._places.folder(value, cwd) for value in values for cwd in self._cwds)
        return is_folder and "--no-dereference" not in values

    def _look_for_unseen(self, name: str, arguments: Sequence[Argument], *, has_more: bool) -> None:
        """Record that a command may read files that it does not name."""
        if name == "git" and git_shows_contents([field.value for field in arguments]):
            self._unseen = self._unseen or "git can show the contents of any file in the history"
        elif name not in TEXT_ONLY and (has_more or any(_is_unknown(field) for field in arguments)):
            self._unseen = self._unseen or f"the files that {name} reads cannot be known before it runs"

    def _matched(self, fields: Sequence[Argument]) -> list[Argument]:
        """Replace patterns with the paths they match, where these are certain."""
        matched: list[Argument] = []
        for field in fields:
            found = self._matches(field) if field.pattern and len(self._cwds) == 1 else None
            if found is None:
                matched.append(field)
            else:
                matched += [Argument(path, path) for path in sorted(found)] or [
                    Argument(field.source, field.source)
                ]
        return matched

    def _matches(self, field: Argument) -> list[str] | None:
        try:
            return [path for cwd in self._cwds for path in self._places.matches(field.pattern, cwd)]
        except ToolError as error:
            self.doubt(str(error))
            return None

    # ------------------------------------------------------------------ accessed paths

    def _touches(
        self, name: str, arguments: Sequence[Argument], inner: Sequence[Inner], *, has_more: bool
    ) -> list[PathAccess]:
        if name in ("cd", "pushd"):
            wanted = self._folder_wanted(name, arguments)
            return [PathAccess(wanted)] if wanted is not None else [PathAccess(field) for field in arguments]
        if name in SHELLS and inner:
            return []
        touches = find_paths(name, arguments)
        return [touch for touch in touches if not (has_more and "{}" in touch.path.text)]

    def _named(self, touches: Sequence[PathAccess], *, is_inside: bool = False) -> tuple[list[Subject], bool]:
        """Return the paths as subjects, and whether all of them may be read without an approval.

        With `is_inside`, only paths below the root may.
        """
        subjects: dict[Subject, None] = {}
        is_open = True
        for touch in touches:
            for path, cwd in self._candidates(touch):
                names = self._places.names(path, cwd)
                for name in names:
                    is_open = is_open and self._places.is_open(name) and not (is_inside and name[:1] == "/")
                if names == ["."] and path == ".":
                    continue
                tool = "read_file" if touch.access == "read" else "write_file"
                subjects.update(dict.fromkeys(Subject("path", name, touch.access, tool) for name in names))
                if len(subjects) > MAX_SUBJECTS:
                    raise TooComplex(f"it touches more than {MAX_SUBJECTS} files")
        return list(subjects), is_open

    def _paths(self, touches: Sequence[PathAccess]) -> bool:
        subjects, is_open = self._named(touches)
        for subject in subjects:
            self._add(subject)
        return is_open

    def _candidates(self, touch: PathAccess) -> Iterator[tuple[str, str]]:
        """Yield the paths that an argument may be, each with the folder it is relative to."""
        field = touch.path
        for cwd in self._cwds:
            if field.value is not None:
                if not touch.is_guess:
                    yield from [(field.value, cwd)] if field.value not in ("", "-") else []
                    continue
                for guess in path_guesses(field.value):
                    if ("/" in guess and "://" not in field.value) or self._places.exists(guess, cwd):
                        yield guess, cwd
                continue
            for guess in field.guesses:
                yield guess, cwd
            if "/" in field.prefix:
                yield field.prefix.rpartition("/")[0] or "/", cwd
        if field.pattern:
            for cwd in self._cwds:
                for path in self._matches(field) or ():
                    yield path, cwd

    # ------------------------------------------------------------------ shell effects and nested commands

    def _shell_effects(
        self, name: str, arguments: Sequence[Argument], feed: Feed, inner: Sequence[Inner], *, has_more: bool
    ) -> None:
        """Follow `cd`, and add doubts for commands that change how the shell reads the rest."""
        values = [field.value for field in arguments]
        if name in ("cd", "pushd"):
            self._change_folder(name, arguments)
        elif name == "popd":
            self.doubt("where popd leads cannot be known before it runs")
        elif name == "alias" and any("=" in field.text or field.value is None for field in arguments):
            self.doubt("the command line defines an alias")
        elif (name == "shopt" and arguments) or (name == "set" and not _is_safe_setting(values)):
            self.doubt(f"{name} changes how the shell reads what follows")
        elif name in SHELLS and not inner:
            is_script = any(field.text and field.text[0] not in "-+" for field in arguments)
            if (feed == "pipe" and not is_script) or (has_more and not is_script):
                self.doubt("a shell runs its input, which cannot be known before it runs")
        elif name in ("source", ".") and any(value is None for value in values[:1]):
            self.doubt("the script that it reads cannot be known before it runs")
        elif has_more and not inner and name in ("env", "sudo", "timeout", "nice", "nohup", "eval", "time"):
            self.doubt(f"the program that {name} runs cannot be known before it runs")

    def _folder_wanted(self, name: str, arguments: Sequence[Argument]) -> Argument | None:
        """Return the target of `cd`; None when it is not known before it runs."""
        operands = [field for field in arguments if field.value not in _FOLDER_FLAGS]
        if any(field.value in _FOLDER_FLAGS[1:] for field in arguments):
            self.mark_unproven(f"{name} has flags that change how links are treated")
        if not operands and name == "cd":
            return Argument("~", self._variables.home)
        is_known = len(operands) == 1 and bool(operands[0].value) and operands[0].text[0] not in "-+"
        return operands[0] if is_known else None

    def _change_folder(self, name: str, arguments: Sequence[Argument]) -> None:
        wanted = self._folder_wanted(name, arguments)
        if wanted is None or wanted.value is None:
            self.doubt(f"where {name} leads cannot be known before it runs")
            return
        if self._loops:
            self.doubt(f"{name} changes the folder in each pass of a loop")
        moved: list[str] = []
        for cwd in self._cwds:
            folder = self._places.folder(wanted.value, cwd)
            if folder is not None and os.path.realpath(os.path.join(cwd, wanted.value)) != folder:
                self.mark_unproven(f"{name} leads through a link")
            if folder is None or self._has_changes:  # then it may be gone, and cd fails
                moved.append(cwd)
            moved.append(folder or os.path.normpath(os.path.join(cwd, wanted.value)))
        self._cwds = self._either(moved)

    def _inner(self, name: str, inner: Inner, feed: Feed) -> None:
        match inner:
            case UnknownCommand(why):
                self.doubt(why)
            case CommandText(text):
                self._text(text, is_own_shell=name not in _SAME_SHELL)
            case Argv(fields, has_more, folder):
                if not fields:
                    self.doubt(f"the program that {name} runs cannot be known before it runs")
                    return
                before = self._cwds
                if folder is not None:
                    self._change_folder("cd", [folder])
                if has_more and any("{}" in field.text and " " in field.text for field in fields):
                    self.doubt(f"{name} inserts file names into a command")
                self._wrappers += 1
                if self._wrappers > MAX_WRAPPERS:
                    raise TooComplex(f"more than {MAX_WRAPPERS} nested commands")
                self._argv(fields, feed, has_more=has_more)
                self._wrappers -= 1
                if folder is not None or name not in ("command", "builtin", "time", "exec"):
                    self._cwds = before

    def _text(self, text: str, *, is_own_shell: bool) -> None:
        self._texts += 1
        if self._texts > MAX_TEXTS:
            self.doubt("the command line is nested too deeply")
        else:
            before = self._cwds
            self.run_script(parse_script(text))
            self._cwds = before if is_own_shell else self._cwds
        self._texts -= 1


def _is_unknown(field: Argument) -> bool:
    return field.value is None and not field.pattern


def _is_safe_setting(values: Sequence[str | None]) -> bool:
    return not values or values[0] == "--" or all(value in _SAFE_SETTINGS for value in values)
