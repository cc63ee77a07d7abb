"""Expands a typed prompt before it enters a session: the skill of `/review a.py`, the image of `@a.png`."""

import os
import re
import shlex
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from bridle.core.errors import UsageError
from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.messages import MAX_IMAGE_BYTES, Media, make_image
from bridle.core.skill import SKILL_NAME, Skill, near_names, render

MAX_PASTED_PATHS_CHARS = 8_192
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_IMAGE = re.compile(r'(?:^|(?<=[\s(\[]))@(?:"([^"\n]{1,4096})"|([^\s"]{1,4096}))')
_CALL = re.compile(rf"/(?P<name>{SKILL_NAME.pattern})(?:\s(?P<arguments>.*))?", re.DOTALL)


def expand_in(text: str, cwd: str, environ: Mapping[str, str]) -> str:
    """Expand a prompt with the skills of a working folder; raises UsageError, ConfigError."""
    if not _CALL.fullmatch(text):
        return text
    from bridle.app import skills_in
    from bridle.config.settings import load_settings

    return expand(text, skills_in(load_settings(environ, Path(cwd))), cwd)


def expand(text: str, skills: Sequence[Skill], cwd: str) -> str:
    """Return the text of the skill that a prompt calls, with arguments filled in; other prompts unchanged.

    The arguments are the text after the name and one space. Raises UsageError for an unknown skill, unless a
    file has that path or an MCP server may provide it, and for a skill that only a model may load.
    """
    call = _CALL.fullmatch(text)
    if call is None:
        return text
    name, arguments = call["name"], (call["arguments"] or "").lstrip("\n")
    skill = next((skill for skill in skills if skill.name == name), None)
    if skill is None:
        if name.startswith(MCP_PREFIX) or os.path.lexists(f"/{name}"):
            return text  # the session asks the MCP server that has the prompt
        raise _unknown(name, skills)
    if not skill.user_invocable:
        raise UsageError(f"the skill {name} is for the model only", hint=f"{skill.file} says so")
    return render(skill, arguments, cwd).removesuffix("\n\n---\n\n")


def _unknown(name: str, skills: Sequence[Skill]) -> UsageError:
    usable = [skill for skill in skills if skill.user_invocable]
    if near := near_names(name, usable):
        return UsageError(
            f"no skill is named {name}", hint=f"did you mean {' or '.join(f'/{each}' for each in near)}?"
        )
    listed = "bridle skills list" if usable else f"bridle skills new {name}"
    return UsageError(f"no skill is named {name}", hint=f"{listed}; a space before the slash makes it text")


# ---------------------------------------------------------------------------- images


def read_images(prompt: str, cwd: str) -> tuple[Media, ...]:
    """Read the images that a prompt names as `@a.png` or `@"my picture.png"`; raises UsageError."""
    names = (quoted or plain.rstrip(".,;:!?)]") for quoted, plain in _IMAGE.findall(prompt))
    paths = [name for name in names if name.lower().endswith(IMAGE_SUFFIXES)]
    try:
        return tuple(read_image(path, cwd) for path in dict.fromkeys(paths))
    except UsageError as error:
        raise UsageError(f"@{error.message}", hint=error.hint or "without the @ it is only a name") from None


def read_image(path: str, cwd: str) -> Media:
    """Read an image file; raises UsageError, also for a link of the working folder that leads out of it."""
    file = Path(cwd, os.path.expanduser(path))
    try:
        if _leads_out(file, cwd):
            raise UsageError(f"{path} is a link that leads out of the folder", hint="name the file itself")
        if not stat.S_ISREG(file.stat().st_mode):
            raise UsageError(f"{path} is not a file")
        with file.open("rb") as opened:
            return make_image(opened.read(MAX_IMAGE_BYTES + 1), file.name)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path!r} is not a path") from None


def _leads_out(file: Path, cwd: str) -> bool:
    """Return whether a file is named below a folder and lies elsewhere: a stranger may have made the link."""
    is_below = Path(os.path.abspath(file)).is_relative_to(os.path.abspath(cwd))
    return is_below and not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(cwd))


def mention_images(pasted: str) -> str:
    """Return mentions of image files whose paths were pasted, as terminals do for dropped files."""
    if len(pasted) > MAX_PASTED_PATHS_CHARS or not pasted.rstrip("'\" \n").lower().endswith(IMAGE_SUFFIXES):
        return ""
    try:
        words = shlex.split(pasted)
        paths = [unquote(word[7:]) if word.startswith("file://") else word for word in words]
        is_image = all(os.path.isabs(path) and os.path.isfile(path) for path in paths)
    except ValueError:
        return ""
    if not is_image or not all(path.lower().endswith(IMAGE_SUFFIXES) and '"' not in path for path in paths):
        return ""
    return " ".join(f'@"{path}"' if re.search(r"\s", path) else f"@{path}" for path in paths) + " "
