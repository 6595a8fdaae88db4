"""What compilers made is kept by what they made it from, and for its account alone."""

import pytest

from sandbox.compile_cache import Artefact, CompileCache, Compiled, cache_key
from sandbox.job import File, Program
from sandbox.result import Compilation, Stream
from sandbox.verdict import Verdict


def compiled(size: int = 10) -> Compiled:
    return Compiled(
        Verdict.SUCCEEDED,
        None,
        Compilation(0, Stream(), Stream(), 5),
        artefacts=(Artefact("main", b"x" * size, 0o755),),
    )


BASE = ("a", "sha256:1", ["g++", "main.cpp"], Program("cpp", "int main(){}", (File("a.h", b"1"),)))


@pytest.mark.parametrize(
    "other",
    [
        ("b", *BASE[1:]),
        ("a", "sha256:2", *BASE[2:]),
        (*BASE[:2], ["g++", "-O0", "main.cpp"], BASE[3]),
        (*BASE[:3], Program("cpp", "int main(){ }", BASE[3].files)),
        (*BASE[:3], Program("cpp", BASE[3].source, (File("a.h", b"2"),))),
        (*BASE[:3], Program("cpp", BASE[3].source, (File("b.h", b"1"),))),
        (*BASE[:3], Program("cpp", BASE[3].source)),
    ],
    ids=["account", "image", "command", "source", "file", "file name", "no file"],
)
def test_whatever_differs_has_another_key(other: tuple[str, str, list[str], Program]) -> None:
    assert cache_key(*other) != cache_key(*BASE)
    assert cache_key(*BASE) == cache_key(*BASE)


def test_parts_of_a_key_do_not_run_into_each_other() -> None:
    assert cache_key("a", "bc", [], BASE[3]) != cache_key("ab", "c", [], BASE[3])


def test_the_least_recently_used_goes_first() -> None:
    cache = CompileCache(max_bytes=5 * compiled().size)
    for name in (b"1", b"2", b"3", b"4", b"5"):
        cache.put(name, compiled())
    assert cache.get(b"1")
    cache.put(b"6", compiled())
    assert cache.get(b"2") is None
    assert cache.get(b"1")
    assert cache.get(b"6")


def test_the_same_key_twice_counts_once() -> None:
    cache = CompileCache(max_bytes=5 * compiled().size)
    for _ in range(50):
        cache.put(b"1", compiled())
    cache.put(b"2", compiled())
    assert cache.get(b"1")


def test_a_giant_does_not_push_out_everybody_else() -> None:
    cache = CompileCache(max_bytes=40_000)
    cache.put(b"small", compiled())
    cache.put(b"giant", compiled(30_000))
    assert cache.get(b"giant") is None
    assert cache.get(b"small")


def test_what_took_more_than_the_limits_allow_is_no_hit() -> None:
    taken = Compiled(Verdict.SUCCEEDED, None, Compilation(0, Stream(), Stream(), 5), cpu_time_ms=900, memory_kb=1_000)
    assert taken.fits(cpu_time_ms=900, memory_kb=1_000)
    assert not taken.fits(cpu_time_ms=899, memory_kb=1_000)
    assert not taken.fits(cpu_time_ms=900, memory_kb=999)
