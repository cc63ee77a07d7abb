"""Reports for careful users of a release: its parts, licences, known vulnerabilities, secrets and attacks."""
