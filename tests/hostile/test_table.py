"""The table and the programs belong together. Needs no engine."""

import tomllib
from collections import Counter

from tests.hostile.corpus import EXPECTED, LANGUAGES, PROGRAMS, attacks


def test_every_program_has_a_row_and_every_row_has_a_program() -> None:
    rows = tomllib.loads(EXPECTED.read_text())["programs"]
    assert set(rows) == {path.name for path in PROGRAMS.iterdir()}


def test_there_are_many_attacks_in_every_language() -> None:
    count = Counter(attack.language for attack in attacks())
    assert count.total() >= 80
    assert min(count[language] for language in LANGUAGES.values()) >= 20


def test_every_program_begins_by_saying_how_it_works_and_what_must_stop_it() -> None:
    for attack in attacks():
        first = attack.source.splitlines()[0]
        assert first.startswith(("# ", "// ")), attack.name
        words = attack.source[: attack.source.find("\n", 400)]
        assert "must" in words or "may" in words, f"{attack.name}: what must stop it?"


def test_no_two_attacks_are_the_same() -> None:
    assert max(Counter(attack.source for attack in attacks()).values()) == 1


def test_only_a_row_with_a_reason_allows_for_two_outcomes() -> None:
    for attack in attacks():
        assert len(attack.outcomes) <= 2, attack.name
        assert bool(attack.why) == (len(attack.outcomes) == 2), attack.name
    assert sum(len(attack.outcomes) == 2 for attack in attacks()) <= 10
