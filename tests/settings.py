"""The settings of the tests: those of production, with what only a test may assume."""

import os

os.environ.setdefault("CODEFORGE_SECRET_KEY", "tests-only-" + "0123456789abcdefghijklmnopqrstuvwxyz" * 2)
os.environ.setdefault("CODEFORGE_BASE_URL", "http://localhost:8000")
# The type checker reads the settings, too, and needs no service. The tests want real ones: see conftest.
if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
    os.environ["TESTS_HAVE_SERVICES"] = "1"
os.environ.setdefault("DATABASE_URL", "postgresql://nobody@localhost/not-set")
os.environ.setdefault("REDIS_URL", "redis://localhost:1/0")

from codeforge.settings import *  # noqa: F403
from codeforge.settings import ALLOWED_HOSTS, CACHES, CELERY_BROKER_TRANSPORT_OPTIONS, DATABASES

# Several may test at once on the same PostgreSQL and Redis, beside an application that runs: each has names of its own,
# which the workers that the tests start inherit.
TESTS_NAMES = os.environ.setdefault("TESTS_NAMES", f"codeforge_tests_{os.getpid()}")
DATABASES["default"]["TEST"] = {"NAME": TESTS_NAMES}
CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"] = f"{TESTS_NAMES}:"
CACHES["default"]["KEY_PREFIX"] = TESTS_NAMES

ALLOWED_HOSTS += ["testserver"]
# Fast, and as wrong as can be for anything but a test.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Nobody misses what the machine loses when it fails during a test.
DATABASES["default"]["OPTIONS"]["options"] += " -c synchronous_commit=off"  # type: ignore[index]
# Races are tested with fifty threads.
DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 0, "max_size": 70, "timeout": 30}  # type: ignore[index]
