"""Bridle as an editor's agent, over the Agent Client Protocol."""
