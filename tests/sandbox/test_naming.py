"""The name of a Java file follows its public class, wherever that stands, and no text makes the search slow."""

import time

import pytest

from sandbox.catalogue import catalogue
from sandbox.naming import SourceName, name_source

JAVA = catalogue()["java"]
LONGEST = 256 << 10

NAMES = {
    "class Main {}": ("Main.java", "Main"),
    "": ("Main.java", "Main"),
    "package a.b;\npublic class C {}": ("C.java", "a.b.C"),
    "/* public class A {} */ // public class B\npublic final class C {}": ("C.java", "C"),
    'class A { String s = "public class B {}"; } public class C {}': ("C.java", "C"),
    "class A { char c = '\"'; } public class C {}": ("C.java", "C"),
    'class A { String s = """\n public class B { \\""" " "" """; } public class C {}': ("C.java", "C"),
    "class A { public class B {} } class C { static void main(String[] args) {} }": ("C.java", "C"),
    "public class A {} class B { public static void main(String[] args) {} }": ("A.java", "B"),
    "public record Point(int x) {}": ("Point.java", "Point"),
    "public sealed interface S permits T {} final class T implements S {}": ("S.java", "S"),
}

# Each repeated to the longest source that is accepted; some are such that a careless expression is quadratic.
PIECES = [
    "public ", "{class A", "'\\", '"""\\', '"""', '\\"""\n', '""" ', '"""\\"""', '"\\', "'", "/*", '\\"', '""',
    "package a . ", "package ", "class $", "void ", "public static final ", "//\n", "}", '"',
]  # fmt: skip


@pytest.mark.parametrize("source", NAMES)
def test_a_file_is_named_after_its_public_class(source: str) -> None:
    file, main = NAMES[source]
    assert name_source(JAVA, source) == SourceName(file=file, main=main)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("end", ["", "\\", "*", "class"])
def test_no_text_makes_the_search_slow(piece: str, end: str) -> None:
    source = piece * (LONGEST // len(piece)) + end
    began = time.thread_time()
    name_source(JAVA, source)
    # A linear search takes a tenth of this, a quadratic one minutes.
    assert time.thread_time() - began < 2
