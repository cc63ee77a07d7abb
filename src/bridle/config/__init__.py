"""What the user has chosen: settings in layers, agents, and the files that give every agent its context."""
