"""Finds script files: by path, or by name in a script directory, with or without the suffix."""

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from bridle.core.errors import ConfigError

SCRIPT_SUFFIXES = (".json", ".toml")


def find_script(ref: str, name: str, folders: Sequence[Path]) -> Path:
    """Return the script file of the model `ref`; raises ConfigError that suggests a similar name."""
    places = [folder / name for folder in folders]
    for place in places:
        for path in (f"{place}{suffix}" for suffix in ("", *SCRIPT_SUFFIXES)):
            if os.path.isfile(path):  # unlike Path.is_file, returns False for an invalid file name
                return Path(path)
    known = {path.stem for place in places for path in scripts_in(place.parent)}
    near = difflib.get_close_matches(Path(name).stem, sorted(known), n=1, cutoff=0.5)
    nearest = Path(ref).with_name(near[0]) if near else None
    raise ConfigError(
        f'model "{ref}": no script file named "{name}"',
        hint=f"did you mean {nearest}?" if nearest else "name a .json or .toml file",
    )


def scripts_in(folder: Path) -> Iterator[Path]:
    """Yield the script files in a folder; none if the folder does not exist."""
    try:
        yield from [path for path in folder.iterdir() if path.suffix in SCRIPT_SUFFIXES]
    except (OSError, ValueError):
        return
