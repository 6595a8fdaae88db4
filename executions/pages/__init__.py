"""The pages of an account's runs. Programs and outputs are hostile: `executions.pages.text` makes them harmless."""
