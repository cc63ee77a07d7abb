"""The panels of the terminal interface: what is asked, lists to choose from, and how a session is."""
