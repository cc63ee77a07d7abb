"""What becomes of the figures: kept runs, what has changed between them, the page and its pictures."""
