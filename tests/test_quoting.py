"""Quoted names and strings are read back by the tokenizer as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.quoting import quote_identifier, quote_name, quote_string
from lakeward.sql import tokenize, unquote_token

TEXTS = st.text(alphabet="ab`'\"\\.\n é-", min_size=1, max_size=12)


@given(TEXTS)
def test_an_identifier_survives_quoting(name: str) -> None:
    (token,) = tokenize(quote_identifier(name)) or ()
    assert unquote_token(token.text) == name


@given(TEXTS)
def test_a_string_survives_quoting(value: str) -> None:
    (token,) = tokenize(quote_string(value)) or ()
    assert unquote_token(token.text) == value


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_name_survives_quoting(parts: list[str]) -> None:
    tokens = tokenize(quote_name(parts)) or ()
    assert [unquote_token(token.text) for token in tokens if token.text != "."] == parts


@pytest.mark.parametrize(
    ("text", "value"),
    [(r"'\101\177'", "A\x7f"), (r"'\400'", "400"), (r"'\0'", "\0"), (r"'\08'", "\x008"), (r"'a\%'", r"a\%")],
)
def test_escapes_are_those_of_spark(text: str, value: str) -> None:
    assert unquote_token(text) == value
