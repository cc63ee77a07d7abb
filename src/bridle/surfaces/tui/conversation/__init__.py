"""The conversation widget: shows one session, updated by patches and drawn line by line."""

from bridle.surfaces.tui.conversation.view import Conversation

__all__ = ["Conversation"]
