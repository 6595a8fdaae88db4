"""How a source file gets its name, and which class of it is run."""

import re
from dataclasses import dataclass

from sandbox.catalogue import Runtime

LONGEST_FILE_NAME = 255  # bytes, of one name in a file system


@dataclass(frozen=True, slots=True)
class SourceName:
    """``file``: the name in the working directory. ``main``: what is named to the runtime to start it."""

    file: str
    main: str


def name_source(runtime: Runtime, source: str) -> SourceName:
    """The name that ``source`` must have: fixed for most languages, after its public class where that is asked."""
    if runtime.source_name == "public-class":
        return _name_after_public_class(source)
    return SourceName(file=runtime.source_name, main=runtime.source_name)


# Comments, text blocks, strings and characters: whatever stands in them declares nothing. Each alternative ends by
# itself at the end of the text, so that an unfinished one cannot make the search quadratic.
_HIDDEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|\"\"\"(?:[^"\\]++|\\.|\"(?!\"\"))*+(?:\"\"\"|\\?\Z)|"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?""",
    re.DOTALL,
)
_PACKAGE = re.compile(r"\bpackage\s+([\w$]+(?:\s*\.\s*[\w$]+)*)\s*;")
_NAME = r"([^\W\d][\w$]*|\$[\w$]*)"
_MODIFIER = r"\b(?:public|final|abstract|strictfp|sealed|static|non-sealed)\s{1,100}"
_TYPE = re.compile(rf"(?P<modifiers>(?:{_MODIFIER}){{0,6}})\b(?:class|interface|enum|record)\s{{1,100}}{_NAME}")
_MAIN = re.compile(r"\bvoid\s+main\s*\(")


def _name_after_public_class(source: str) -> SourceName:
    """A file is named after its public type, wherever that stands; the class to run is it, or the one with `main`."""
    text = _HIDDEN.sub(" ", source)
    package = _PACKAGE.search(text)
    types = list(_top_level_types(text))
    public = next((name for name, is_public, _ in types if is_public), None)
    with_main = next((name for name, _, has_main in types if has_main), None)
    runs = public if any(name == public and has_main for name, _, has_main in types) else with_main
    name = runs or public or (types[0][0] if types else "Main")
    file = f"{public or name}.java"
    if len(file.encode()) > LONGEST_FILE_NAME:
        file = "Main.java"  # the compiler refuses it, which is its job and not ours
    prefix = re.sub(r"\s", "", package[1]) + "." if package else ""
    return SourceName(file=file, main=prefix + name)


def _top_level_types(text: str) -> list[tuple[str, bool, bool]]:
    """(name, is public, declares `main`) of every type that is not inside another."""
    starts = _matches_at_depth_zero(text)
    ends = [*(match.start() for match in starts), len(text)][1:]
    return [
        (match[2], "public" in match["modifiers"].split(), bool(_MAIN.search(text, match.end(), end)))
        for match, end in zip(starts, ends, strict=True)
    ]


def _matches_at_depth_zero(text: str) -> list[re.Match[str]]:
    found, depth, position = [], 0, 0
    for match in _TYPE.finditer(text):
        between = text[position : match.start()]
        depth += between.count("{") - between.count("}")
        position = match.start()
        if depth == 0:
            found.append(match)
    return found
