"""The rules of the specification of pipelines, and the tests that show them.

`python -m tests.pipelines.rules > docs/pipelines-compatibility.md` writes the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.acceptance.page import samples_as_markdown

__all__ = ["RULES", "Rule", "as_markdown"]

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Rule:
    """One rule; `tests` are `module::test` of this folder."""

    number: str
    basis: str
    says: str
    tests: tuple[str, ...]


def _rule(line: str) -> Rule:
    number, basis, rest = line.split(maxsplit=2)
    says, _, tests = rest.partition(" || ")
    return Rule(number, basis, says, tuple(tests.split(", ")))


RULES: tuple[Rule, ...] = tuple(
    _rule(line)
    for line in (HERE / "rules.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)

_HEAD = """\
# Pipelines: what is held, and what shows it

A *fact* is documented or was seen on the platform; *assumed* is what is likely and is built so, to be
corrected when it is known better; *differs* says what is not as there. The parameters of each function stand
in [Declarative pipelines](pipelines.md), the statements in [Sources of pipelines](pipeline-sources.md). The
page is generated from `tests/pipelines/rules.txt` and `tests/acceptance`.

| rule | | what it says | shown by |
|---|---|---|---|
"""


def as_markdown() -> str:
    """The whole page."""
    rows = [
        f"| {rule.number} | {rule.basis} | {rule.says} | {'<br>'.join(map(_link, rule.tests))} |\n"
        for rule in RULES
    ]
    return _HEAD + "".join(rows) + "\n" + samples_as_markdown()


def _link(test: str) -> str:
    module, _, name = test.partition("::")
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../tests/pipelines/test_{module}.py)"


if __name__ == "__main__":
    print(as_markdown(), end="")
