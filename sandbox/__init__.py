"""Runs hostile programs under gVisor and says what became of them. Knows nothing of Django, accounts or the API."""
