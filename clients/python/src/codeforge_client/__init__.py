"""Runs and scores code written by language models with CodeForge."""

from codeforge_client.client import AsyncClient, Client
from codeforge_client.errors import CodeForgeError, NoAnswer, Refused

__all__ = ["AsyncClient", "Client", "CodeForgeError", "NoAnswer", "Refused"]
