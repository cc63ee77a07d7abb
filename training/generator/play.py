"""One conversation of the training data, performed with Bridle's real tools in a folder of its own."""

import asyncio
import os
import random
import re
import shutil
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.core.protocol import FilesSeen
from bridle.providers.embedded.file_view import FileView, LineEdit, edit_args
from bridle.providers.embedded.trained_messages import offered_tools, result_text, update_views
from bridle.sandbox.local import LocalSandbox
from bridle.tools.file_tools import file_tools
from bridle.tools.glob import Glob
from bridle.tools.grep import Grep
from bridle.tools.shell import Bash, ShellSettings, shell_tools

ALL_TOOLS = offered_tools(("glob", "read_file", "grep", "write_file", "edit_file", "bash"))
READ_ONLY = offered_tools(("glob", "read_file", "grep"))
MAX_FILE_CHARS = 14_000
HOME = "/home/ann"
"""The folder that texts show in place of the real one, which differs between machines."""
FOLDERS = (
    "project notes work app demo shop site club school kitchen data tool game band trip lab home".split()
)
GIT = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in {
        "NAME": "Ann Lee",
        "EMAIL": "ann@example.org",
        "DATE": "2026-01-05T10:00:00+00:00",
    }.items()
} | {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",  # else the folder's own mount point is in an error
    "PYTHONDONTWRITEBYTECODE": "1",
}
TEST_SECONDS = re.compile(r"^(Ran \d+ tests? in) \d+\.\d+s$", re.MULTILINE)

_Value = TypeVar("_Value")


class Unfit(Exception):
    """What chance has laid out makes no sensible conversation; draw again."""


class Workshop:
    """Bridle's tools, and the folder in which one conversation after the other is performed."""

    def __init__(self, place: Path) -> None:
        self.place = place
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(place), "LANG": "C.UTF-8"} | GIT
        bash, *_ = shell_tools(
            LocalSandbox(home=str(place)),
            place / "shells",
            settings=ShellSettings(environ=environ, pass_env=("GIT_*",), timeout_s=60),
        )
        assert isinstance(bash, Bash)
        self.bash = bash
        self.tools: dict[str, Tool] = {tool.spec.name: tool for tool in (*file_tools(), Glob(), Grep(), bash)}
        self._loop = asyncio.new_event_loop()
        self._environ = environ

    def wait(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Run a coroutine to its end."""
        return self._loop.run_until_complete(work)

    def setup(self, command: str, folder: Path) -> None:
        """Run a command of a conversation's author."""
        self.wait(self._setup(command, folder))

    async def _setup(self, command: str, folder: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", command, cwd=folder, env=self._environ, stdout=-3, stderr=-3
        )
        if await process.wait():
            raise Unfit(f"{command} failed")

    def close(self) -> None:
        """End all shells."""
        self.wait(self.bash.aclose())
        self._loop.close()


class Play:
    """A conversation while it is performed: the folder, what was said, and the calls with their results."""

    def __init__(self, seed: int, workshop: Workshop) -> None:
        self.rng = random.Random(seed)
        self.tools = ALL_TOOLS
        self.messages: list[Message] = []
        self.titled = ""
        """The title, if the conversation is a request for one."""
        self._workshop = workshop
        self._session = SessionId(f"play-{seed}")
        self._name = self.rng.choice(FOLDERS)
        self._folder = workshop.place / self._name
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._views: dict[str, FileView] = {}
        self._seen: dict[str, str] = {}
        self._prompt = ""
        self._has_shell = False

    # ------------------------------------------------------------------------ before the first prompt

    def file(self, path: str, content: str | bytes) -> None:
        """Lay out a file."""
        if self.messages:
            raise AssertionError("files are laid out before the first prompt")
        place = self._folder / path
        if place.exists() or any((self._folder / parent).is_file() for parent in Path(path).parents):
            raise Unfit(f"{path} is there already")
        data = content.encode() if isinstance(content, str) else content
        if len(data) > MAX_FILE_CHARS:
            raise Unfit(f"{path} is too long")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise Unfit(str(error)) from error

    def setup(self, command: str) -> None:
        """Run a command in the folder, such as `git init -q`."""
        self._workshop.setup(command, self._folder)

    # ------------------------------------------------------------------------ words

    def user(self, text: str) -> None:
        """Say what the user types."""
        if self.messages and self.messages[-1].role != "assistant":
            raise AssertionError("the turn before has no answer")
        self._prompt = text
        self._views.clear()
        self.messages.append(user_message(text))

    def say(self, text: str) -> None:
        """Answer in words, which ends the turn."""
        if not text.strip() or self.messages[-1].role == "assistant":
            raise AssertionError(f"an answer that does not fit: {text!r}")
        self.messages.append(Message("assistant", (Text(text),)))

    def title(self, prompt: str, title: str) -> None:
        """Make the conversation a request for a title."""
        self.messages = [user_message(prompt), Message("assistant", (Text(title),))]
        self.titled = title

    # ------------------------------------------------------------------------ calls

    def glob(self, pattern: str = "**/*") -> str:
        """Find files."""
        return self._call("glob", pattern=pattern)

    def read(self, path: str) -> str:
        """Show a file."""
        return self._call("read_file", path=path)

    def grep(self, pattern: str, include: str = "") -> str:
        """Search in files."""
        return self._call("grep", pattern=pattern, **({"include": include} if include else {}))

    def write(self, path: str, content: str) -> str:
        """Create a file, or replace its whole content."""
        return self._call("write_file", path=path, content=content.removesuffix("\n") + "\n" * bool(content))

    def bash(self, command: str) -> str:
        """Run a command."""
        self._has_shell = True
        output = self._call("bash", command=command)
        if "[ended after" in output:
            raise Unfit("the machine is too slow")
        return output

    def set_lines(self, path: str, lines: int | tuple[int, int], text: str) -> str:
        """Put a text in place of a line, or of the lines from the first to the last."""
        first, last = lines if isinstance(lines, tuple) else (lines, lines)
        return self._edit(path, LineEdit(first, last, tuple(text.split("\n"))))

    def insert_after(self, path: str, line: int, text: str) -> str:
        """Put a text below a line; 0 is the top of the file."""
        return self._edit(path, LineEdit(line + 1, line, tuple(text.split("\n"))))

    def delete_lines(self, path: str, lines: int | tuple[int, int]) -> str:
        """Take out a line, or the lines from the first to the last."""
        first, last = lines if isinstance(lines, tuple) else (lines, lines)
        return self._edit(path, LineEdit(first, last, ()))

    def replace_all(self, path: str, old: str, new: str) -> str:
        """Replace every occurrence of a text in a file."""
        self._view(path)
        return self._call("edit_file", path=path, old_str=old, new_str=new)

    def text(self, path: str) -> str:
        """Return what a file holds now; this is no call."""
        return (self._folder / path).read_text()

    def exists(self, path: str) -> bool:
        """Return whether there is such a file or folder now; this is no call."""
        return (self._folder / path).exists()

    def _view(self, path: str) -> FileView:
        if path not in self._views:
            raise AssertionError(f"{path} was not read in this turn")
        return self._views[path]

    def _edit(self, path: str, edit: LineEdit) -> str:
        args = edit_args(self._view(path), edit)
        if args is None:
            raise Unfit(f"{path} cannot be edited so: {edit}")
        if args["old_str"] == args["new_str"]:
            raise Unfit("the edit changes nothing")
        return self._call("edit_file", path=path, **args)

    def _call(self, name: str, **args: Any) -> str:
        if not self.messages or self.messages[-1].role == "assistant":
            raise AssertionError("a call before the user has said anything")
        call = ToolCall(CallId(f"c{len(self.messages)}"), name, args)
        output = self._workshop.wait(self._run(call))
        text = output.text.replace(str(self._workshop.place), HOME)
        text = TEST_SECONDS.sub(lambda ran: f"{ran[1]} 0.00{self.rng.randrange(10)}s", text)
        result = ToolResult(call.id, name, text, output.is_error)
        self.messages += [Message("assistant", (call,)), Message("tool", (result,))]
        if not output.is_error:
            update_views(self._views, call, text)
        elif name == "edit_file":
            raise Unfit(text)
        return result_text(result, self._prompt)

    async def _run(self, call: ToolCall) -> ToolOutput:
        context = ToolContext(
            self._session, str(self._folder), _ignore, mode="yolo", seen=self._seen, call_id=call.id
        )
        try:
            output = await self._workshop.tools[call.name].run(call.args, context)
        except ToolError as error:
            return ToolOutput(str(error), is_error=True)
        for note in output.notes:
            if isinstance(note, FilesSeen):
                self._seen |= {file.path: file.digest for file in note.files}
        return output

    def close(self) -> None:
        """End the shell and remove the folder."""
        if self._has_shell:
            self._workshop.wait(self._workshop.bash.end_session(self._session))
        shutil.rmtree(self._folder, ignore_errors=True)


def _ignore(text: str) -> None:
    pass


class Family(Struct, frozen=True):
    """A kind of conversation, and how often it is drawn, relative to the others."""

    perform: Callable[[Play], None]
    weight: float

    @property
    def name(self) -> str:
        """The module and function, such as `edit.bump_version`."""
        return f"{self.perform.__module__.rpartition('.')[2]}.{self.perform.__name__}"


def perform(family: Family, seed: int, workshop: Workshop) -> Play | None:
    """Perform a conversation; None if chance laid out nothing that fits."""
    play = Play(seed, workshop)
    try:
        family.perform(play)
        if len(play.messages) < 2 or play.messages[-1].role != "assistant" or play.messages[-1].calls:
            raise AssertionError("the conversation does not end with an answer")
    except Unfit:
        return None
    finally:
        play.close()
    return play


def choose(families: Sequence[Family], rng: random.Random) -> Family:
    """Draw a family by weight."""
    return rng.choices(families, [family.weight for family in families])[0]
