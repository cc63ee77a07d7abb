"""Reports of the figures: recorded runs, changes between them, the page and its pictures."""
