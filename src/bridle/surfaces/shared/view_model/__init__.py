"""The view model of a session, shared by all surfaces with a user interface."""
