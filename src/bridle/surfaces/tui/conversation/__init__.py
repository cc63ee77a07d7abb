"""The conversation of one session on the screen: driven by patches, drawn line by line."""

from bridle.surfaces.tui.conversation.view import Conversation

__all__ = ["Conversation"]
