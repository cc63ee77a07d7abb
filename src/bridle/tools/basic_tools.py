"""Small tools without side effects outside the session: todos, questions, time, waiting, skills."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from threading import Event
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from bridle.core.errors import ConfigError, ToolError
from bridle.core.ports import Clock, Tool, ToolContext, ToolOutput
from bridle.core.protocol import Question, Todo, TodosChanged
from bridle.core.skill import Skill, near_names, render
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.tools.paths import printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import WithoutPreview, description, parameters, text_arg

MAX_TODOS = 100
MAX_TODO_CHARS = 500
MAX_QUESTION_CHARS = 2000
MAX_CHOICES = 8
MAX_CHOICE_CHARS = 200
MAX_WAIT_S = 300

NO_ANSWER = "The user did not answer; decide yourself and say what you assumed."
_BOXES = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}

_Args = TypeVar("_Args", bound=Struct)


LoadSkills = Callable[[str], Sequence[Skill]]
"""Returns the skills of a working directory; blocking; raises ConfigError."""


def basic_tools(clock: Clock, load_skills: LoadSkills = lambda cwd: ()) -> tuple[Tool, ...]:
    """Return one instance of each of these tools."""
    return SkillTool(load_skills), AskUser(), DateTime(clock), Todos(), Wait()


class Todos(WithoutPreview):
    """The tool that keeps the todo list."""

    parallel = False

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("todos", description("todos"), _TODOS_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access without subjects."""
        return Access("todos", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Replace the list and return the new one."""
        wanted = _convert(args, _TodosArgs).todos
        todos = tuple(Todo(_line(todo.text, "a todo needs text"), todo.status) for todo in wanted)
        current = [todo.text for todo in todos if todo.status == "in_progress"]
        if len(current) > 1:
            raise ToolError(
                f"only one todo may be in_progress, not {len(current)}", hint=f"finish {current[0]!r} first"
            )
        lines = [f"{_BOXES[todo.status]} {todo.text}" for todo in todos]
        return ToolOutput("\n".join(lines) or "The list is empty.", notes=(TodosChanged(todos),))


class AskUser(WithoutPreview):
    """The tool that asks the user a question."""

    parallel = False

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("ask_user", description("ask_user"), _ASK_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access without subjects: the user sees the question anyway."""
        return Access("ask_user", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the answers, one per line, or a text that says there is none."""
        wanted = _convert(args, _AskArgs)
        if not wanted.question.strip():
            raise ToolError("the question is empty")
        choices = tuple(_line(choice, "a choice is empty") for choice in wanted.choices)
        if len(set(choices)) < len(choices):
            raise ToolError("two choices are the same")
        if context.ask is None:
            return ToolOutput(NO_ANSWER)
        question = Question(wanted.question.strip(), choices, wanted.several and bool(choices))
        return ToolOutput("\n".join(await context.ask(question)) or NO_ANSWER)


class DateTime(WithoutPreview):
    """The tool that returns the current time."""

    parallel = True
    seldom = True

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("datetime", description("datetime"), _DATETIME_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access without subjects."""
        return Access("datetime", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the time in a time zone, the day of the week and the seconds since 1970."""
        zone = _convert(args, _DateTimeArgs).timezone.strip()
        epoch_s = self._clock.now_ms() // 1000

        def tell(_: Event) -> str:  # in a thread, because it reads time zone files
            now = datetime.fromtimestamp(epoch_s, UTC).astimezone(_zone(zone) if zone else None)
            return f"{now.isoformat()}\n{now:%A}, {zone or 'local time'} ({now:%Z})\nepoch {epoch_s}"

        return ToolOutput(await run_in_thread(tell))


class Wait(WithoutPreview):
    """The tool that waits for some seconds."""

    parallel = True
    seldom = True

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("wait", description("wait"), _WAIT_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access without subjects."""
        return Access("wait", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return after the given time."""
        seconds = _convert(args, _WaitArgs).seconds
        await asyncio.sleep(seconds)
        return ToolOutput(f"Waited {seconds:g} s")


# ---------------------------------------------------------------------------- skills
# The tool that loads a skill: instructions that a person wrote for a kind of task.

MAX_LISTED = 30
MAX_SHOWN_CHARS = 80


class SkillTool(WithoutPreview):
    """The tool that returns the text of a skill with its arguments filled in."""

    parallel = True

    def __init__(self, load: LoadSkills) -> None:
        """Take the function that loads skills; it is called for every tool call."""
        self._load = load

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("skill", description("skill"), _SKILL_PARAMETERS)

    def is_useful(self, cwd: str) -> bool:
        """Return whether there is a skill that a model may load."""
        try:
            return any(not skill.disable_model_invocation for skill in self._load(cwd))
        except ConfigError:
            return False

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return an access that names the skill, so that a rule such as `skill(deploy)` can match it."""
        return Access("skill", "read", (Subject("text", printable(_skill_name(args))),))

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the text of the skill and the folder of its files."""
        name = _skill_name(args)
        arguments = text_arg(args, "arguments") if args.get("arguments") is not None else ""
        if not name:
            raise ToolError("skill name is required")
        try:
            skills = await run_in_thread(lambda _: self._load(context.cwd))
        except ConfigError as error:
            raise ToolError(f"the skills cannot be read: {error}") from error
        skill = _find_skill(name, skills)
        return ToolOutput(render(skill, arguments, context.cwd).removesuffix("\n\n---\n\n"))


def _skill_name(args: dict[str, Any]) -> str:
    """Return the name without the slash that users type before it."""
    return text_arg(args, "name").strip().removeprefix("/")


def _find_skill(name: str, skills: Sequence[Skill]) -> Skill:
    usable = [skill for skill in skills if not skill.disable_model_invocation]
    for skill in skills:
        if skill.name == name:
            if skill.disable_model_invocation:
                raise ToolError(f"skill '{name}' can only be invoked by user with /{name}")
            return skill
    message = f"skill not found: {printable(name[:MAX_SHOWN_CHARS])}"
    if near := near_names(name, usable):
        raise ToolError(message, hint=f"did you mean {' or '.join(near)}?")
    names = [skill.name for skill in usable]
    more = ", …" if len(names) > MAX_LISTED else ""
    listed = f"available skills: {', '.join(names[:MAX_LISTED])}{more}" if names else "no skills available"
    raise ToolError(message, hint=listed)


# ---------------------------------------------------------------------------- arguments


class _TodosArgs(Struct, frozen=True):
    todos: Annotated[tuple["_TodoArg", ...], Meta(max_length=MAX_TODOS)]


class _TodoArg(Todo, frozen=True):
    text: Annotated[str, Meta(max_length=MAX_TODO_CHARS)]


class _AskArgs(Struct, frozen=True):
    question: Annotated[str, Meta(max_length=MAX_QUESTION_CHARS)]
    choices: Annotated[
        tuple[Annotated[str, Meta(max_length=MAX_CHOICE_CHARS)], ...], Meta(max_length=MAX_CHOICES)
    ] = ()
    several: bool = False


class _DateTimeArgs(Struct, frozen=True):
    timezone: Annotated[str, Meta(max_length=100)] = ""


class _WaitArgs(Struct, frozen=True):
    seconds: Annotated[float, Meta(ge=0, le=MAX_WAIT_S)]


def _convert(args: Mapping[str, Any], into: type[_Args]) -> _Args:
    """Convert arguments; raises ToolError that names the invalid one."""
    try:
        return msgspec.convert(args, into)
    except msgspec.ValidationError as error:
        raise ToolError(str(error).replace("`", '"')) from error


def _line(text: str, refusal: str) -> str:
    line = " ".join(text.split())
    if not line:
        raise ToolError(refusal)
    return line


def _zone(name: str) -> tzinfo:
    """Return a time zone; raises ToolError with similar names."""
    from zoneinfo import ZoneInfo, available_timezones  # noqa: PLC0415  only for this tool

    if name.upper() in ("UTC", "Z"):
        return UTC  # works even if no time zones are installed
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        from difflib import get_close_matches  # noqa: PLC0415  only for this message

        names = available_timezones()
        by_ending = {known.lower().rpartition("/")[2]: known for known in sorted(names)}
        lowered = {known.lower(): known for known in names}
        wanted = name.lower().replace(" ", "_")
        near = [lowered[match] for match in get_close_matches(wanted, lowered, cutoff=0.75)]
        near += [by_ending[match] for match in get_close_matches(wanted, by_ending, cutoff=0.8)]
        hint = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else "write it as Europe/Paris"
        raise ToolError(f"unknown time zone {name!r}", hint=hint) from error


# ---------------------------------------------------------------------------- schemas sent to the model

_TODOS_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "todos": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "status": {"type": "string", "enum": list(_BOXES)},
                },
                "required": ["text"],
            },
        }
    },
    "required": ["todos"],
}
_ASK_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "choices": {"type": "array", "items": {"type": "string"}},
        "several": {"type": "boolean"},
    },
    "required": ["question"],
}
_DATETIME_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"timezone": {"type": "string"}},
}
_WAIT_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": MAX_WAIT_S}},
    "required": ["seconds"],
}
_SKILL_PARAMETERS = parameters(1, name=("string", ""), arguments=("string", "As the skill asks for"))
