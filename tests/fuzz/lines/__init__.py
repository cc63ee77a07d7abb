"""Command lines: generated from a grammar, judged, and run if they are judged harmless."""
