"""What a person sees of a session, for every surface that people look at."""
