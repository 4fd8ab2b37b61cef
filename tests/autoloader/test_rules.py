"""Every rule has a test that names it, or a line that says why not."""

from __future__ import annotations

from tests.autoloader.rules import ROOT, RULES, SPECIFIED, as_markdown, shown_by


def test_the_page_of_rules_is_what_the_tests_say() -> None:
    """`python -m tests.autoloader.rules > docs/auto-loader-rules.md` writes it."""
    assert (ROOT / "docs" / "auto-loader-rules.md").read_text(encoding="utf-8") == as_markdown()


def test_every_rule_of_the_specification_is_in_the_table_once() -> None:
    assert sorted(rule.number for rule in RULES) == sorted(SPECIFIED)


def test_every_rule_is_shown_or_says_why_it_cannot_be() -> None:
    shown = shown_by()
    assert [rule.number for rule in RULES if not shown.get(rule.number) and not rule.elsewhere] == []


def test_no_test_names_a_rule_that_is_not_there() -> None:
    assert set(shown_by()) - {rule.number for rule in RULES} == set()
