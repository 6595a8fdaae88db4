"""Programs of benchmarks in the real sandbox: right ones pass; wrong ones, and those that leave early, do not."""

import pytest

from executions.evaluations import presets
from executions.evaluations.presets import Parts
from sandbox.verdict import Verdict
from tests.real.conftest import Run

pytestmark = pytest.mark.real

SECRET = b"0123456789abcdef0123456789abcdef\n"

PYTHON = Parts(
    prompt='def add(a, b):\n    """The sum."""\n',
    completion="    return a + b\n",
    test="def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(-1, 1) == 0\n",
    entry_point="add",
)
JAVASCRIPT = Parts(
    prompt="const add = (a, b) => {\n",
    completion="  return a + b;\n}\n",
    test="const testAdd = () => {\n  console.assert(add(1, 2) === 3)\n}\n\ntestAdd()\n",
    entry_point="add",
)
JAVA = Parts(
    prompt="import java.util.*;\n\nclass Solution {\n    public int add(int a, int b) {\n",
    completion="        return a + b;\n    }\n}",
    test=(
        "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n"
        "        List<Boolean> correct = Arrays.asList(s.add(1, 2) == 3, s.add(-1, 1) == 0);\n"
        "        if (correct.contains(false)) {\n            throw new AssertionError();\n        }\n    }\n}\n"
    ),
    entry_point="add",
)
CPP = Parts(
    prompt="#include<vector>\nusing namespace std;\nint add(int a, int b){\n",
    completion="    return a + b;\n}\n",
    test="#undef NDEBUG\n#include<assert.h>\nint main(){\n    assert (add(1, 2) == 3);\n}\n",
    entry_point="add",
)
# language, preset, its parts; a body that is wrong, and one that ends the process with 0 before the test.
CASES = {
    "python, humaneval": ("python", "humaneval", PYTHON, "    return a - b\n", "    import os; os._exit(0)\n"),
    "python, exit": ("python", "humaneval", PYTHON, "    return None\n", "    raise SystemExit(0)\n"),
    "python, humaneval-x": (
        "python",
        "humaneval-x",
        Parts(PYTHON.prompt, PYTHON.completion, PYTHON.test + "\ncheck(add)\n", ""),
        "    return a - b\n",
        "    exit(0)\n",
    ),
    "python, mbpp": (
        "python",
        "mbpp",
        Parts("", "def add(a, b):\n    return a + b\n", "assert add(1, 2) == 3\n", ""),
        "def add(a, b):\n    return a\n",
        "import sys\nsys.exit(0)\n",
    ),
    "javascript": ("javascript", "humaneval-x", JAVASCRIPT, "  return a - b;\n}\n", "  process.exit(0)\n}\n"),
    "java": (
        "java",
        "humaneval-x",
        JAVA,
        "        return a - b;\n    }\n}",
        "        System.exit(0); return 0;\n    }\n}",
    ),
    "cpp": ("cpp", "humaneval-x", CPP, "    return a - b;\n}\n", "    exit(0);\n}\n"),
    "cpp, with a return": (
        "cpp",
        "multipl-e",
        Parts(
            "#include <cassert>\n#include <cstdlib>\n" + CPP.prompt,
            CPP.completion,
            CPP.test[:-2] + "    return 0;\n}\n",
            "",
        ),
        "    return a - b;\n}\n",
        "    exit(0);\n}\n",
    ),
}


def outcome(run: Run, language: str, preset: str, parts: Parts) -> tuple[Verdict, str | None]:
    """The verdict, and what is wrong with the proof."""
    source = presets.assemble(preset, language, parts)
    options = presets.options_of(preset, language)
    result = run(language, source, stdin=SECRET, options=options)
    fault = presets.fault_of_proof(presets.proof_of(preset, language), secret=SECRET, stderr=result.stderr.content)
    return result.verdict, fault


@pytest.mark.parametrize("case", CASES)
def test_only_a_program_that_is_right_passes(run: Run, case: str) -> None:
    language, preset, parts, wrong, leaves = CASES[case]

    assert outcome(run, language, preset, parts) == (Verdict.SUCCEEDED, None)

    verdict, fault = outcome(run, language, preset, Parts(parts.prompt, wrong, parts.test, parts.entry_point))
    assert (verdict, fault) in {(Verdict.RUNTIME_ERROR, "incomplete"), (Verdict.SUCCEEDED, "complained")}

    verdict, fault = outcome(run, language, preset, Parts(parts.prompt, leaves, parts.test, parts.entry_point))
    assert (verdict, fault) == (Verdict.SUCCEEDED, "incomplete")


def test_what_an_interpreter_says_when_it_shuts_down_takes_no_proof_away(run: Run) -> None:
    completion = "    return a + b\n\nimport atexit, sys\natexit.register(lambda: sys.stderr.write('bye\\n'))\n"
    parts = Parts(PYTHON.prompt, completion, PYTHON.test, "add")
    assert outcome(run, "python", "humaneval", parts) == (Verdict.SUCCEEDED, None)
