"""Splitting SQL: what separates statements, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.sql import is_complete, split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 1; select 2", ["select 1", "select 2"]),
        ("select 1;", ["select 1"]),
        (";;select 1;;", ["select 1"]),
        ("", []),
        ("-- only a comment;\n/* ; */", []),
        ("select ';' as a; select `b;c` from t", ["select ';' as a", "select `b;c` from t"]),
        ("select 1 -- one;\n, 2; select 3", ["select 1 -- one;\n, 2", "select 3"]),
        ("select /* ; */ 1; select 2", ["select /* ; */ 1", "select 2"]),
        (r"select 'it\'s;'; select 2", [r"select 'it\'s;'", "select 2"]),
        (r"select r'\'; select 2", [r"select r'\'", "select 2"]),
        ("vacuum delta.`/a;b`; show tables like 'x;'", ["vacuum delta.`/a;b`", "show tables like 'x;'"]),
        ("begin select 1; select 2; end; select 3", ["begin select 1; select 2; end", "select 3"]),
        (
            "begin if x then select case when a then 1 end; end if; select 2; end; select 3",
            ["begin if x then select case when a then 1 end; end if; select 2; end", "select 3"],
        ),
        (
            "create … as $$ a = 'it''s;'; # don't\n$$; select 2",
            ["create … as $$ a = 'it''s;'; # don't\n$$", "select 2"],
        ),
        ("select begin from t; select 2", ["select begin from t", "select 2"]),
        ("select case when a then 1 end; select 2", ["select case when a then 1 end", "select 2"]),
    ],
)
def test_a_semicolon_separates_only_outside_of_strings_quotes_comments_and_blocks(
    text: str, expected: list[str]
) -> None:
    assert split(text) == expected


def test_an_open_quote_leaves_the_text_whole_so_that_spark_says_where() -> None:
    assert split("select 1; select 'abc") == ["select 1; select 'abc"]


literals = st.text("ab;-'\" /*\n", max_size=8).map(lambda text: "'" + text.replace("'", "''") + "'")


@given(st.lists(literals, min_size=1, max_size=5))
def test_statements_joined_by_semicolons_come_apart_again(values: list[str]) -> None:
    statements = [f"select {value}" for value in values]
    assert split(" ;\n".join(statements)) == statements


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("select 1;", True),
        ("select 1", False),
        ("select ';", False),
        ("select 1; -- done", True),
        ("begin select 1;", False),
        ("", True),
    ],
)
def test_a_typed_text_is_complete_when_its_last_statement_ends(text: str, complete: bool) -> None:
    assert is_complete(text) is complete
