"""Compilers: plain, with what the images hold ready, and from the cache."""

import uuid
from functools import partial

from bench.api import Api
from bench.measure import Table, timed_ms
from sandbox.catalogue import catalogue
from sandbox.compile_cache import Artefact
from sandbox.docker import Engine
from sandbox.docker_evaluator import room_for
from sandbox.images import image_tag
from sandbox.job import Limits
from sandbox.session import Session

CPP = "#include <bits/stdc++.h>\nint main() { std::cout << 24 << std::endl; }\n"
JAVA = "public class Main { public static void main(String[] args) { System.out.println(24); } }\n"
PLAIN = {
    # Another macro on the command line, and no precompiled header fits.
    "cpp": ["/usr/bin/g++", "-std=c++20", "-O2", "-pipe", "-DPLAIN", "-o", "main", "main.cpp"],
    "java": ["/usr/bin/javac", "-encoding", "UTF-8", "-proc:none", "-d", ".", "Main.java"],
}


def measure(table: Table, *, rounds: int) -> None:
    table.section("Compilers")
    api = Api()
    for language, source, file in (("cpp", CPP, "main.cpp"), ("java", JAVA, "Main.java")):
        plain = Plain(language, file)
        try:
            plain.compile_ms(source)
            plain_ms, first_ms, cached_ms = [], [], []
            for _ in range(rounds):
                program = f"{source}// {uuid.uuid4()}\n"
                plain_ms.append(plain.compile_ms(program))
                shown = api.evaluate(language=language, source=program)
                assert shown["stdout"] == "24\n", shown
                first_ms.append(float(shown["compile"]["timeMs"]))
                cached_ms.append(timed_ms(partial(_again, api, language, program)))
        finally:
            plain.close()
        table.row(f"{language}: plain compiler in the same kind of sandbox", plain_ms, "ms")
        table.row(f"{language}: first compilation", first_ms, "ms")
        table.row(f"{language}: second, API to verdict, run included", cached_ms, "ms")
        if language == "cpp":
            table.ratio("cpp_pch_over_plain", first_ms, plain_ms)
            table.ratio("cpp_cached_over_plain", cached_ms, plain_ms)
        else:
            table.ratio("javac_over_plain", first_ms, plain_ms)


def _again(api: Api, language: str, source: str) -> None:
    shown = api.evaluate(language=language, source=source)
    assert shown["compile"]["cached"], shown


class Plain:
    """A sandbox in which the compiler is run as it is, without help."""

    def __init__(self, language: str, file: str) -> None:
        runtime = catalogue()[language]
        self._engine = Engine(worker=f"bench-{uuid.uuid4()}")
        self._sandbox = self._engine.start(image_tag(runtime), room_for(runtime, Limits()))
        self._session = Session(self._sandbox, runtime)
        self._language = language
        self._file = file

    def compile_ms(self, source: str) -> float:
        self._session.stage([Artefact(self._file, source.encode())])
        compiled = self._session.compile(PLAIN[self._language], Limits())
        assert compiled.compilation.exit_code == 0, compiled
        return float(compiled.compilation.time_ms)

    def close(self) -> None:
        self._sandbox.remove()
        self._engine.close()
