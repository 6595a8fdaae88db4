"""Hears PostgreSQL's notifications: one thread and one connection for a whole process."""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
from django.db import connection
from psycopg import sql

logger = logging.getLogger(__name__)

_LOOKS_FOR_STOP_EVERY_S = 0.5
_TRIES_AGAIN_AFTER_S = 1.0


class Listener:
    """Calls the handler of a channel with the payload of each notification.

    Notifications that are sent while the connection is down are lost, and the server does not say how many. So after
    every (re)connection ``on_gap`` is called: whoever waits has to look for himself, once.
    """

    def __init__(self, handlers: Mapping[str, Callable[[str], None]], *, on_gap: Callable[[], None]) -> None:
        self._handlers = handlers
        self._on_gap = on_gap
        self._stopped = threading.Event()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(timeout=5)

    def is_listening(self, *, within_s: float = 0) -> bool:
        """Whether a notification that is sent from now on would be heard."""
        return self._listening.wait(within_s)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen()
            except psycopg.Error as error:
                logger.warning("Lost the connection that listens (%s).", type(error).__qualname__)
            except Exception:
                logger.exception("The listener failed.")
            finally:
                self._listening.clear()
            self._stopped.wait(_TRIES_AGAIN_AFTER_S)

    def _listen(self) -> None:
        with psycopg.connect(**_parameters(), autocommit=True) as listening:
            for channel in self._handlers:
                listening.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            self._listening.set()
            self._on_gap()
            while not self._stopped.is_set():
                for notification in listening.notifies(timeout=_LOOKS_FOR_STOP_EVERY_S):
                    self._handlers[notification.channel](notification.payload)


def _parameters() -> dict[str, Any]:
    """Where Django's database is, without what Django adds for itself. A dead peer is noticed within a minute."""
    known = connection.get_connection_params()
    own = (
        "dbname",
        "user",
        "password",
        "host",
        "port",
        "sslmode",
        "sslrootcert",
        "connect_timeout",
        "service",
        "passfile",
    )
    keepalives = {"keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 3}
    return (
        {name: known[name] for name in own if name in known} | keepalives | {"application_name": "codeforge listener"}
    )
