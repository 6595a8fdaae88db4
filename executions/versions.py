"""Which runtimes are offered, and how a version is asked for."""

from datetime import timedelta

from django.db.models import Max

from executions.models import RuntimeImage

# Workers say every half minute what they can run. What was not said together with the latest is offered no more; when
# no worker is left, what they offered last stays offered, and waits for them.
_SAID_TOGETHER = timedelta(minutes=2)


def offered() -> dict[str, list[RuntimeImage]]:
    """The runtimes of each language, the newest version first."""
    latest = RuntimeImage.objects.aggregate(latest=Max("seen_at"))["latest"]
    found: dict[str, list[RuntimeImage]] = {}
    if latest is not None:
        for runtime in RuntimeImage.objects.filter(seen_at__gt=latest - _SAID_TOGETHER):
            found.setdefault(runtime.language, []).append(runtime)
    for runtimes in found.values():
        runtimes.sort(key=lambda runtime: _order(runtime.version), reverse=True)
    return found


def is_ever_offered(language: str) -> bool:
    """Whether some worker has said so, however long ago. Before any has said anything, all are taken to be."""
    return RuntimeImage.objects.filter(language=language).exists() or not RuntimeImage.objects.exists()


def is_version_of(*, asked: str, offered: str) -> bool:
    """Whether ``asked`` is the version or a dotted prefix of it: `3` and `3.13` are of 3.13.5, `3.1` is not."""
    return not asked or offered == asked or offered.startswith(f"{asked}.")


def _order(version: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in version.split(".")]
