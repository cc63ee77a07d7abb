"""Options that a user can choose in the editor: modes, models, agents, and slash commands."""

from collections.abc import Sequence

from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    UnstructuredCommandInput,
)
from msgspec import Struct

from bridle.app import skills_in
from bridle.config.settings import Settings
from bridle.core.errors import UsageError
from bridle.core.permission import Mode
from bridle.core.protocol import RunOptions
from bridle.core.server_views import PromptView
from bridle.core.skill import Skill
from bridle.surfaces.shared.folder_info import Folders, agent_rows, filter_usable, known_models

MODES: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Reads files; asks before it changes or runs anything"),
    "plan": ("Plan", "Reads only"),
    "accept-edits": ("Accept edits", "Reads and changes files; asks before it runs anything"),
    "yolo": ("Never ask", "Does everything that no rule denies"),
}
MODE, MODEL, AGENT = "mode", "model", "agent"
MAX_MODELS = 500
MAX_COMMANDS = 500

ConfigOption = SessionConfigOptionSelect | SessionConfigOptionBoolean


class AvailableOptions(Struct, frozen=True):
    """The options available in a folder."""

    agents: dict[str, tuple[Mode, str]]
    """Each with its own mode and model."""
    models: tuple[str, ...]
    skills: tuple[Skill, ...]


def read_menu(folders: Folders, cwd: str) -> AvailableOptions:
    """Load the options of a folder; slow. Raises UsageError, ConfigError."""
    settings = folders.settings(cwd)
    agents = {row.agent: (_mode(row.mode), row.model) for row in agent_rows(settings) if not row.problem}
    models = [facts.model.ref for facts in filter_usable(known_models(settings))][:MAX_MODELS]
    return AvailableOptions(agents, tuple(models), _skills(settings))


def read_skills(folders: Folders, cwd: str) -> tuple[Skill, ...]:
    """Load the skills of a folder; takes a moment. Raises UsageError, ConfigError."""
    return _skills(folders.settings(cwd))


def _skills(settings: Settings) -> tuple[Skill, ...]:
    return tuple(skill for skill in skills_in(settings) if skill.user_invocable)[:MAX_COMMANDS]


def _mode(text: str) -> Mode:
    return next((mode for mode in MODES if mode == text), "ask")


class Choices:
    """The user's choices for one session; what is not chosen follows from the session and its agent."""

    def __init__(self, menu: AvailableOptions, agent: str, model: str, mode: Mode | None = None) -> None:
        """`agent` and `mode` are the session's; `model` that of its next run, or empty."""
        self.menu = menu
        self._made_mode = mode
        self._agent = agent
        self._model = model
        self._chosen_mode: Mode | None = None
        self._chosen_model: str | None = None
        self._chosen_agent: str | None = None

    @property
    def options(self) -> RunOptions:
        """The options of the next run."""
        agent = self._chosen_agent if self._chosen_agent != self._agent else None
        return RunOptions(mode=self._chosen_mode, model=self._chosen_model, agent=agent)

    @property
    def mode(self) -> Mode:
        """The mode of the next run."""
        return self._chosen_mode or self._made_mode or self._of_agent[0]

    @property
    def model(self) -> str:
        """The model of the next run."""
        return self._chosen_model or self._model or self._of_agent[1]

    @property
    def agent(self) -> str:
        """The agent of the next run."""
        return self._chosen_agent or self._agent

    @property
    def _of_agent(self) -> tuple[Mode, str]:
        return self.menu.agents.get(self.agent, ("ask", ""))

    def choose(self, what: str, value: object) -> None:
        """Set a choice; raises UsageError if it is not available."""
        offered: dict[str, list[str]] = {MODE: [*MODES], MODEL: self._models(), AGENT: self._agents()}
        if what not in offered:
            raise UsageError(f"unknown option {what[:100]!r}", hint=", ".join(offered))
        if not isinstance(value, str) or value not in offered[what]:
            raise UsageError(f"{what}: {str(value)[:100]!r} is not one of the choices")
        if what == MODE:
            self._chosen_mode = _mode(value)
        elif what == MODEL:
            self._chosen_model = value
        else:
            self._chosen_agent = value

    def modes(self) -> SessionModeState:
        """Return the modes and the current one."""
        modes = [SessionMode(id=mode, name=name, description=about) for mode, (name, about) in MODES.items()]
        return SessionModeState(current_mode_id=self.mode, available_modes=modes)

    def config(self) -> list[ConfigOption]:
        """Return all options and their current values."""
        modes = [
            SessionConfigSelectOption(value=mode, name=name, description=about)
            for mode, (name, about) in MODES.items()
        ]
        options: list[ConfigOption] = [
            SessionConfigOptionSelect(
                type="select", id=MODE, name="Mode", category="mode", current_value=self.mode, options=modes
            )
        ]
        if self.model:
            options.append(_select(MODEL, "Model", "model", self.model, self._models()))
        if len(self._agents()) > 1:
            options.append(_select(AGENT, "Agent", None, self.agent, self._agents()))
        return options

    def mode_update(self) -> CurrentModeUpdate:
        """Return an update with the current mode."""
        return CurrentModeUpdate(session_update="current_mode_update", current_mode_id=self.mode)

    def config_update(self) -> ConfigOptionUpdate:
        """Return an update with all options."""
        return ConfigOptionUpdate(session_update="config_option_update", config_options=self.config())

    def _models(self) -> list[str]:
        """Return the models, including the current one if it is not listed."""
        names = dict.fromkeys(self.menu.models)
        return [*names] if self.model in names or not self.model else [self.model, *names]

    def _agents(self) -> list[str]:
        names = dict.fromkeys(self.menu.agents)
        return [*names] if self.agent in names else [self.agent, *names]


def commands_update(skills: Sequence[Skill], prompts: Sequence[PromptView]) -> AvailableCommandsUpdate:
    """Return an update with the slash commands: skills, and prompts of MCP servers."""
    listed = [
        *((skill.name, skill.description, skill.argument_hint) for skill in skills),
        *((prompt.name, prompt.description, " ".join(prompt.arguments)) for prompt in prompts),
    ]
    commands = [
        AvailableCommand(
            name=name,
            description=about,
            input=AvailableCommandInput(root=UnstructuredCommandInput(hint=hint)) if hint else None,
        )
        for name, about, hint in listed[:MAX_COMMANDS]
    ]
    return AvailableCommandsUpdate(session_update="available_commands_update", available_commands=commands)


def _select(
    what: str, name: str, category: str | None, current: str, values: Sequence[str]
) -> SessionConfigOptionSelect:
    options = [SessionConfigSelectOption(value=value, name=value) for value in values]
    return SessionConfigOptionSelect.model_validate(
        {
            "type": "select",
            "id": what,
            "name": name,
            "category": category,
            "current_value": current,
            "options": options,
        }
    )
