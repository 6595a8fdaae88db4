"""Many executions at once: accepted as a whole or refused as a whole, waited for and cancelled together."""
