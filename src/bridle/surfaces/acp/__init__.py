"""Bridle as the agent of an editor, by the Agent Client Protocol."""
