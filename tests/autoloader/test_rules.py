"""Every rule has a test that cites it, or a reason why none can; every cited rule exists."""

from __future__ import annotations

from tests.autoloader.rules import RULES, proofs


def test_the_table_has_every_rule_once() -> None:
    assert len({rule.number for rule in RULES}) == len(RULES)


def test_every_rule_has_a_test_or_a_reason() -> None:
    tests = proofs()
    assert [rule.number for rule in RULES if not tests.get(rule.number) and not rule.elsewhere] == []


def test_tests_cite_existing_rules() -> None:
    assert set(proofs()) - {rule.number for rule in RULES} == set()
