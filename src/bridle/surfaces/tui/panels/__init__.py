"""The panels of the terminal interface: approvals and questions, lists, and windows about a session."""
