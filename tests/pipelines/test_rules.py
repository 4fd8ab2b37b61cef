"""The page of compatibility says of every rule which test shows it, and each of them is there."""

from __future__ import annotations

import ast

import pytest

from tests.pipelines.rules import HERE, RULES


@pytest.mark.parametrize("module", sorted({test.split("::")[0] for rule in RULES for test in rule.tests}))
def test_every_test_that_a_rule_names_is_there(module: str) -> None:
    tree = ast.parse((HERE / f"test_{module}.py").read_text(encoding="utf-8"))
    there = {f"{module}::{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef)}
    named = {test for rule in RULES for test in rule.tests if test.startswith(f"{module}::")}
    assert named <= there


def test_every_rule_has_a_basis_and_a_test() -> None:
    assert all(rule.tests and rule.basis in ("fact", "assumed", "differs") for rule in RULES)
