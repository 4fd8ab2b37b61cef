"""The rules of the Auto Loader specification, and the tests that carry their numbers.

`python -m tests.autoloader.rules > docs/auto-loader-rules.md` writes the page.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["RULES", "SPECIFIED", "Rule", "as_markdown", "shown_by"]

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Rule:
    """`assumed` rules are held as far as they are known; `elsewhere` says why no test here can show one."""

    number: str
    says: str
    assumed: bool = False
    elsewhere: str = ""


def _rules() -> Iterator[Rule]:
    for line in (HERE / "rules.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        number, basis, rest = line.split(maxsplit=2)
        says, _, elsewhere = rest.partition(" || ")
        yield Rule(number, says, basis == "assumed", elsewhere)


RULES: tuple[Rule, ...] = tuple(_rules())

# The rules that the specification numbers, by section.
_NUMBERED = {
    "1.1": range(1, 10),
    "2.1": range(1, 10),
    "2.2": range(10, 13),
    "2.3": range(1, 9),
    "2.4": range(1, 6),
    "3.2": range(1, 13),
    "3.3": range(1, 5),
    "4.1": range(1, 6),
    "4.3": range(1, 7),
    "4.5": range(1, 7),
    "5.2": range(1, 6),
    "6.1": range(1, 8),
    "6.4": range(1, 6),
    "6.6": range(1, 7),
    "7": range(1, 12),
}
# Sections that are one rule: a table, or a paragraph. 2.2 is a table with rules behind it.
_WHOLE = ("1.2", "1.3", "1.4", "1.5", "2.2", "3.1", "3.4", "4.2", "4.4", "5.1", "6.2", "6.3", "6.5", "6.7")

SPECIFIED: frozenset[str] = frozenset(_WHOLE) | {
    f"{section}.{number}" for section, numbers in _NUMBERED.items() for number in numbers
}
"""The numbers of all rules in the specification's sections 1 to 7."""


def shown_by(folder: Path = HERE) -> dict[str, list[str]]:
    """Rule → the tests whose marker `rule` names it."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for number in _numbers(node):
                found.setdefault(number, []).append(f"{path.relative_to(ROOT)}::{node.name}")
    return found


def _numbers(test: ast.FunctionDef) -> Iterator[str]:
    for call in test.decorator_list:
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.rule":
            yield from (ast.literal_eval(argument) for argument in call.args)


_HEAD = """\
# Auto Loader's rules and their tests

Every rule of the specification's sections 1 to 7, and the tests that carry its number. A *fact* is documented
or was seen on the platform; *assumed* is what is likely and is built so, to be corrected when it is known
better. The page is generated from `tests/autoloader/rules.py`.

| rule | | what it says | shown by |
|---|---|---|---|
"""


def as_markdown() -> str:
    """The whole page."""
    tests = shown_by()
    rows = []
    for rule in RULES:
        names = [_link(name) for name in tests.get(rule.number, [])]
        shown = "<br>".join(names) or rule.elsewhere
        if names and rule.elsewhere:
            shown += f"<br>{rule.elsewhere}"
        says = rule.says.replace("|", "\\|")
        rows.append(f"| {rule.number} | {'assumed' if rule.assumed else 'fact'} | {says} | {shown} |\n")
    return _HEAD + "".join(rows)


def _link(name: str) -> str:
    path, _, test = name.partition("::")
    return f"[{test.removeprefix('test_').replace('_', ' ')}](../{path})"


if __name__ == "__main__":
    print(as_markdown(), end="")
