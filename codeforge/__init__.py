"""Wires the apps together: settings, URLs, Celery, WSGI. No app imports it, but for the leaves `errors` and `env`."""

from codeforge.celery import app as celery_app

__all__ = ["celery_app"]
