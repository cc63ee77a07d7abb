"""Decide which files a search may show: none that a rule hides.

The note about hidden files is one fixed sentence, whether or not a file was left out: a count would let a
model guess the content of a denied file, one pattern at a time.
"""

import os
import stat

from bridle.core.errors import ToolError
from bridle.core.permission import READING_TOOL, Action, Rule, hidden_patterns, judge, rule_matches
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.paths import printable
from bridle.tools.tool_support import outside_filter

# ---------------------------------------------------------------------------- hard links
# Hard links: a file that a rule denies may have another name that no rule matches.


MAX_ENTRIES = 200_000


def has_denied_name(found: os.stat_result, context: ToolContext) -> bool:
    """Return whether a file has another name in the working directory that a rule denies; blocking.

    Searches only for a file with several names, and only if such a rule exists. In a tree that is too
    large to search (`MAX_ENTRIES`), the answer is yes.
    """
    if found.st_nlink < 2 or not stat.S_ISREG(found.st_mode) or not hidden_patterns(context.rules):
        return False
    root = os.path.realpath(context.cwd)
    names_left, entries_left = found.st_nlink, MAX_ENTRIES
    folders = [root]
    while folders and names_left:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    entries_left -= 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.inode() == found.st_ino and _is_on_device(entry, found.st_dev):
                        names_left -= 1
                        if _is_denied(os.path.relpath(entry.path, root), context):
                            return True
        except OSError:
            continue  # a folder that cannot be listed has no names to compare
        if entries_left < 0:
            return True
    return False


def hard_link_error(name: str) -> ToolError:
    """Return the error for a file with a denied name."""
    return ToolError(f"{name} is another name of a file that a rule protects from reading")


def _is_on_device(entry: os.DirEntry[str], device: int) -> bool:
    """Return whether a file is on a device; a mount below the working directory has its own inode numbers."""
    try:
        return entry.stat(follow_symlinks=False).st_dev == device
    except OSError:
        return False  # removed since


def _is_denied(path: str, context: ToolContext) -> bool:
    access = Access(READING_TOOL, "read", (Subject("path", printable(path)),))
    return judge(access, context.rules, "yolo").action == "deny"


# ---------------------------------------------------------------------------- visibility


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
