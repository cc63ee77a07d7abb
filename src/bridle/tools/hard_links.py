"""Hard links: a file that a rule denies may have another name that no rule matches."""

import os
import stat

from bridle.core.errors import ToolError
from bridle.core.permission import READING_TOOL, hidden_patterns, judge
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.paths import printable

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
