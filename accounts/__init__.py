"""Who may use CodeForge, and how much of it: people, accounts, API keys, what an account may do and has used."""
