"""The text of a skill: what stands before its body, and where its arguments go.

```
+++
name = "review"            front matter, TOML
+++
Review $ARGUMENTS.         body; $0 to $9 are single arguments
```
"""

import re

_FENCE = "+++"
_PLACE = re.compile(r"\$(?:ARGUMENTS|[0-9])")


def split_front_matter(text: str) -> tuple[str, str]:
    """Return front matter and body; a text without both of its fences is all body."""
    stripped = text.strip()
    if not stripped.startswith(_FENCE):
        return "", text
    rest = stripped.removeprefix(_FENCE)
    end = rest.find(f"\n{_FENCE}")
    if end < 0:
        return "", text
    return rest[:end].strip(), rest[end + 1 + len(_FENCE) :]


def split_arguments(text: str) -> list[str]:
    """Split at spaces outside of quotes; quotes vanish, a backslash is a character like any other."""
    arguments: list[str] = []
    word, quote = "", ""
    for char in text:
        if quote:
            quote, word = ("", word) if char == quote else (quote, word + char)
        elif char in "'\"":
            quote = char
        elif char == " ":
            arguments.append(word)
            word = ""
        else:
            word += char
    return [argument for argument in (*arguments, word) if argument]


def fill_in(template: str, text: str) -> str:
    """Put arguments into a skill's body; a place without its argument stays as it is.

    What was put in is not looked at again: an argument `$1` is a text.
    """
    arguments = split_arguments(text)

    def argument(place: re.Match[str]) -> str:
        name = place[0][1:]
        if name == "ARGUMENTS":
            return text
        return arguments[int(name)] if int(name) < len(arguments) else place[0]

    return _PLACE.sub(argument, template)
