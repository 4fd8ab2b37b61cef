"""The rules of pipelines and the tests that prove them.

`make docs` writes the page.
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
# Pipelines: rules and the tests that prove them

A *fact* is documented or was observed on the platform. *Assumed* marks the most likely behaviour where
nothing is documented. *Differs* marks behaviour that is not that of the platform. The parameters of each
function are in [Declarative pipelines](pipelines.md), the statements in [Sources of
pipelines](pipeline-sources.md). The page is generated from `tests/pipelines/rules.txt` and
`tests/acceptance`.

| rule | | behaviour | proved by |
|---|---|---|---|
"""


def as_markdown() -> str:
    """Return the page."""
    return _HEAD + "".join(map(_row, RULES)) + "\n" + samples_as_markdown()


def _row(rule: Rule) -> str:
    number = f"[SDP-{rule.number}](spec/pipelines.md#SDP-{rule.number})"
    return f"| {number} | {rule.basis} | {rule.says} | {'<br>'.join(map(_link, rule.tests))} |\n"


def _link(test: str) -> str:
    module, _, name = test.partition("::")
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../tests/pipelines/test_{module}.py)"
