"""How long tests wait for an expected condition."""

PATIENCE_S = 180.0
"""A guard against hanging, and no measure: far more than anything takes on a busy machine."""
