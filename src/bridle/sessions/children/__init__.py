"""Sub-agents: the child sessions of a run."""
