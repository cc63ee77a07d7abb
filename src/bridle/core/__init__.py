"""Values and decisions: what Bridle is, without any of the outside world."""
