"""What a search may show: nothing that a rule keeps from being read.

What is left out is said in one fixed sentence, whether or not there was something to leave out: a count
would let a model guess at a denied file, one pattern at a time.
"""

import os

from bridle.core.permission import READING_TOOL, Action, Rule, judge, rule_matches
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.common import opened
from bridle.tools.linked import is_denied_elsewhere
from bridle.tools.paths import printable

LEFT_OUT = "files that a rule does not let you read are left out"


class Visible:
    """Tells whether a found file may be shown, once for each path; made anew for every call."""

    def __init__(self, tool: str, context: ToolContext, *, hidden: tuple[Action, ...]) -> None:
        """Leave out what gets one of these verdicts.

        A name may be shown of a file that can be read after asking, its content may not.
        """
        self._tools = dict.fromkeys((tool, READING_TOOL))
        self._rules = tuple(rule for rule in context.rules if self._matters(rule))
        self._mode = context.mode
        self._context = context
        self._hidden = hidden
        self._is_open = opened(tool, "read", context)
        self._known: dict[str, bool] = {}

    @property
    def note(self) -> str:
        """Return what to say about files left out; empty when no rule hides any."""
        return LEFT_OUT if any(rule.action in self._hidden for rule in self._rules) else ""

    def __call__(self, path: str) -> bool:
        """Tell of a path relative to the working directory, or an absolute one outside of it."""
        if path not in self._known:
            self._known[path] = self._is_allowed(path)
        return self._known[path]

    def _is_allowed(self, path: str) -> bool:
        if path.startswith("/") and (self._is_open is None or not self._is_open(path)):
            return False
        subjects = (Subject("path", printable(path)),)
        return not any(
            judge(Access(tool, "read", subjects), self._rules, self._mode).action in self._hidden
            for tool in self._tools
        ) and not self._has_denied_name(path)

    def is_denied_elsewhere(self, found: os.stat_result) -> bool:
        """Tell whether an open file has another name that a rule denies."""
        return is_denied_elsewhere(found, self._context)

    def _has_denied_name(self, path: str) -> bool:
        try:
            return self.is_denied_elsewhere(os.lstat(os.path.join(self._context.cwd, path)))
        except OSError:
            return False  # it has gone

    def _matters(self, rule: Rule) -> bool:
        if rule.action == "allow" or rule.pattern.startswith("domain:"):
            return False
        return any(rule_matches(Rule(rule.action, rule.tool), tool, None) for tool in self._tools)
