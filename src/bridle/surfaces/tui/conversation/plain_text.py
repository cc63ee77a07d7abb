"""Items as plain text, for copying and searching."""

from bridle.surfaces.view_model.view_types import Answer, Call, Item, Note, Said, Thought


def item_text(item: Item) -> str:
    """Return an item's text as it was written."""
    match item:
        case Said() | Answer() | Thought() | Note():
            return item.text
        case Call():
            head = " ".join(filter(None, [item.tool, "" if item.code else item.brief]))
            parts = [head, item.code, item.diff, item.output, item.answer]
            return "\n".join(part.rstrip("\n") for part in parts if part)
