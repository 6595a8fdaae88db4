"""`python -m dev COMMAND`, called by the Makefile through bootstrap.sh."""

import sys

from dev import services
from dev.console import Trouble, say, step, warn
from dev.paths import ENV_FILE, ROOT


def bring_up_services() -> int:
    with services.changing():
        services.KEEP.touch()
        services.start()
    say(f"Services are up. `source {ENV_FILE.relative_to(ROOT)}` names them; `make down` stops them.")
    return 0


def down() -> int:
    with services.changing(), step("Stopping"):
        services.stop()
    return 0


COMMANDS = {"services": bring_up_services, "down": down}


def main() -> int:
    try:
        return COMMANDS[sys.argv[1]]()
    except Trouble as trouble:
        warn(f"\n{trouble}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
