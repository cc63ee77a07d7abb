"""The user's configuration: layered settings, agents, skills, and the context files for every agent."""
