"""What a careful user asks of a release: what is in it, under which licences, which flaws, which secrets."""
