"""What a sent file may be called. Pure."""

from collections.abc import Sequence

MAX_PATH_BYTES = 255
_MAX_PARTS = 16


def fault_of(path: str) -> str | None:
    """What is wrong with a path, or None. A good one is relative and means the same to everybody who reads it."""
    if not path or len(path.encode()) > MAX_PATH_BYTES:
        return f"Must have 1 to {MAX_PATH_BYTES} bytes."
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in path):
        return "Must not hold control characters."
    if "\\" in path:
        return "Must not hold a backslash; folders are separated by /."
    parts = path.split("/")
    if parts[0] == "":
        return "Must be relative."
    if any(part in {"", ".", ".."} for part in parts):
        return "Must not have empty parts, `.` or `..`."
    return f"Must not have more than {_MAX_PARTS} parts." if len(parts) > _MAX_PARTS else None


def conflicts(paths: Sequence[str | None], *, source_name: str | None) -> dict[int, str]:
    """The files that cannot lie beside the others, by index. None stands for a path that is wrong by itself."""
    faults: dict[int, str] = {}
    files = {path for path in paths if path is not None}
    seen: set[str] = set()
    for index, path in enumerate(paths):
        if path is None:
            continue
        parts = path.split("/")
        folders = {"/".join(parts[:end]) for end in range(1, len(parts))}
        if path in seen:
            faults[index] = "Given twice."
        elif path == source_name:
            faults[index] = "Is the name of the program itself."
        elif folders & files or (source_name is not None and source_name in folders):
            faults[index] = "Lies inside of what is a file."
        seen.add(path)
    return faults
