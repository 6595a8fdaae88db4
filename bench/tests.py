"""Several tests of one program: what each adds, beside the bare start of its language inside gVisor."""

import json
from functools import partial

from bench.api import Api
from bench.measure import Table, timed_ms

STARTS = 20

# Programs that start one of their own language over and over, inside a sandbox, and print the mean in milliseconds.
BARE = {
    "python": f"""
import subprocess, time
began = time.monotonic()
for _ in range({STARTS}):
    subprocess.run(["/usr/bin/python3", "-s", "-B", "-c", "print(24)"], stdout=-1, stdin=-3)
print((time.monotonic() - began) / {STARTS} * 1000)
""",
    "javascript": f"""
const {{ spawnSync }} = require("node:child_process");
const began = performance.now();
for (let i = 0; i < {STARTS}; i++) spawnSync(process.execPath, ["-e", "console.log(24)"]);
console.log((performance.now() - began) / {STARTS});
""",
    "cpp": f"""
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {{
    if (count > 1) return puts("24") < 0;
    auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < {STARTS}; i++) {{
        int ends[2];
        if (pipe(ends)) return 1;
        pid_t pid = vfork();
        if (pid == 0) {{
            dup2(ends[1], 1);
            close(ends[0]);
            close(ends[1]);
            execl("./main", "./main", "24", (char *)0);
            _exit(1);
        }}
        close(ends[1]);
        char text[64];
        while (read(ends[0], text, sizeof text) > 0) {{}}
        close(ends[0]);
        waitpid(pid, 0, 0);
    }}
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    printf("%f\\n", took.count() / {STARTS});
}}
""",
}
PROGRAM = {
    "python": "print(24)",
    "javascript": "console.log(24)",
    "cpp": '#include <cstdio>\nint main() { puts("24"); }',
}
LIMITS = {"wallTimeMs": 30_000, "cpuTimeMs": 20_000}


def measure(table: Table, *, rounds: int) -> None:
    table.section("Tests of one program")
    api = Api()
    for language, bare in BARE.items():
        _evaluate(api, language, 1)  # compiled now, and in the cache
        api.evaluate(language=language, source=bare, limits=LIMITS)
        bare_ms: list[float] = []
        whole_ms: dict[int, list[float]] = {1: [], 10: [], 100: []}
        for _ in range(rounds):
            bare_ms.append(float(json.loads(api.evaluate(language=language, source=bare, limits=LIMITS)["stdout"])))
            for number, samples in whole_ms.items():
                samples.append(timed_ms(partial(_evaluate, api, language, number)))
        table.row(f"{language}: bare start inside gVisor", bare_ms, "ms")
        for number, samples in whole_ms.items():
            table.row(f"{language}: execution with {number} tests, API to verdict", samples, "ms")
        table.ratio("tests100_over_bare", whole_ms[100], [100 * sample for sample in bare_ms], key=language)


def _evaluate(api: Api, language: str, number: int) -> None:
    tests = [{"expectedStdout": "24"}] * number
    shown = api.evaluate(language=language, source=PROGRAM[language], tests=tests)
    assert shown["passed"], shown
