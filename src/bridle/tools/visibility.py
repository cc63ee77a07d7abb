"""Decide which files a search may show: none that a rule hides.

The note about hidden files is one fixed sentence, whether or not a file was left out: a count would let a
model guess the content of a denied file, one pattern at a time.
"""

import os

from bridle.core.permission import READING_TOOL, Action, Rule, judge, rule_matches
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.hard_links import has_denied_name
from bridle.tools.paths import printable
from bridle.tools.tool_support import outside_filter

LEFT_OUT = "files protected by a rule are left out"


class VisibilityFilter:
    """Decides whether a found file may be shown, and caches the answer per path; one instance per call."""

    def __init__(self, tool: str, context: ToolContext, *, hidden: tuple[Action, ...]) -> None:
        """Hide the files for which the rules give one of the actions in `hidden`.

        For a file that needs an approval to be read, the name may be shown, but not the content.
        """
        self._tools = dict.fromkeys((tool, READING_TOOL))
        self._rules = tuple(rule for rule in context.rules if self._matters(rule))
        self._mode = context.mode
        self._context = context
        self._hidden = hidden
        self._is_open = outside_filter(tool, "read", context)
        self._known: dict[str, bool] = {}

    @property
    def note(self) -> str:
        """The note about files that are left out; empty when no rule hides any."""
        return LEFT_OUT if any(rule.action in self._hidden for rule in self._rules) else ""

    def __call__(self, path: str) -> bool:
        """Return whether a path may be shown: relative to the working directory, or absolute outside it."""
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
        """Return whether an open file has another name that a rule denies."""
        return has_denied_name(found, self._context)

    def _has_denied_name(self, path: str) -> bool:
        try:
            return self.is_denied_elsewhere(os.lstat(os.path.join(self._context.cwd, path)))
        except OSError:
            return False  # the file was deleted

    def _matters(self, rule: Rule) -> bool:
        if rule.action == "allow" or rule.pattern.startswith("domain:"):
            return False
        return any(rule_matches(Rule(rule.action, rule.tool), tool, None) for tool in self._tools)
