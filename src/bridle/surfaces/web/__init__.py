"""The web page that the daemon serves."""
