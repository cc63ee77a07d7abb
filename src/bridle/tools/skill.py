"""The tool that loads a skill: instructions that a person wrote for a kind of task."""

from collections.abc import Callable, Sequence
from typing import Any

from bridle.core.errors import ConfigError, ToolError
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.skill import Skill, near_names, render
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.tools.paths import printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import WithoutPreview, description, parameters, text_arg

MAX_LISTED = 30
MAX_SHOWN_CHARS = 80

LoadSkills = Callable[[str], Sequence[Skill]]
"""Returns the skills of a working directory; blocking; raises ConfigError."""


class SkillTool(WithoutPreview):
    """The tool that returns the text of a skill with its arguments filled in."""

    parallel = True

    def __init__(self, load: LoadSkills) -> None:
        """Take the function that loads skills; it is called for every tool call."""
        self._load = load

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("skill", description("skill"), _PARAMETERS)

    def is_useful(self, cwd: str) -> bool:
        """Return whether there is a skill that a model may load."""
        try:
            return any(not skill.disable_model_invocation for skill in self._load(cwd))
        except ConfigError:
            return False

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return an access that names the skill, so that a rule such as `skill(deploy)` can match it."""
        return Access("skill", "read", (Subject("text", printable(_name(args))),))

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the text of the skill and the folder of its files."""
        name = _name(args)
        arguments = text_arg(args, "arguments") if args.get("arguments") is not None else ""
        if not name:
            raise ToolError("skill name is required")
        try:
            skills = await run_in_thread(lambda _: self._load(context.cwd))
        except ConfigError as error:
            raise ToolError(f"the skills cannot be read: {error}") from error
        skill = _find(name, skills)
        return ToolOutput(render(skill, arguments, context.cwd).removesuffix("\n\n---\n\n"))


def _name(args: dict[str, Any]) -> str:
    """Return the name without the slash that users type before it."""
    return text_arg(args, "name").strip().removeprefix("/")


def _find(name: str, skills: Sequence[Skill]) -> Skill:
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


_PARAMETERS = parameters(1, name=("string", ""), arguments=("string", "As the skill asks for"))
