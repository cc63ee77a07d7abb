"""The names of the files and folders that settings are kept in."""

PROJECT_FOLDER = ".bridle"
CONFIG_FILE = "config.toml"
AGENTS_FOLDER = "agents"
PROMPT_FILE = "agent.md"
TRUST_FILE = "trust.json"
SKILLS_FOLDER = "skills"
SKILL_FILE = "SKILL.md"
