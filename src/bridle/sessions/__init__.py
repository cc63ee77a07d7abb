"""Live sessions: the only code that awaits a run."""
