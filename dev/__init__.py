"""Setting up: what `make` calls. Standard library only, and nothing of the application is imported.

`bootstrap.sh` makes the virtual environment, then `python -m dev COMMAND` (see `__main__.py`) does the rest:

    engine.py   a Docker engine of this checkout's own, with gVisor as a runtime
    images.py   the Debian base image, runsc, and the languages' images
    stores.py   PostgreSQL and Redis
    services.py the three together: which are ours, which the environment names, who uses them
    app.py      web, worker and beat, and the supervisor that keeps them running
    sample.py   the scoring sample, run through the public API in every language

Everything lies under `var/`; remove that folder after `make down` and nothing is left.
"""
