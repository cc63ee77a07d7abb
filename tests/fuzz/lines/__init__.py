"""Command lines: made from a grammar, judged, and run where they are judged to be harmless."""
