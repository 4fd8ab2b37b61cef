"""Rewrite SQL that Spark does not parse as Databricks does. Pure: no Spark, no files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from lakeward.sql.construct import Construct, Edit, Edits, RewriteResult, apply_edits
from lakeward.sql.constructs import CONSTRUCTS
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched, tokenize


def triggers() -> str:
    """Return the pattern of all texts that Spark parses with a different meaning."""
    return "|".join(f"(?:{c.trigger})" for c in CONSTRUCTS if c.trigger)


def rewrite(text: str, *, is_expression: bool = False) -> RewriteResult | None:
    """Rewrite a text that Spark does not parse, or that matches a trigger; None leaves it to Spark.

    Never raises: a text that cannot be tokenized is left to Spark, which reports the error.

    >>> rewrite("select 1"), rewrite("select 'unclosed")
    (None, None)
    """
    return _analyze(text, is_expression=is_expression)[0]


def constructs_in(text: str, tokens: tuple[Token, ...] | None = None) -> tuple[Construct, ...]:
    """Return the constructs that a statement uses; `tokens` are those of `text` where they are known."""
    return _analyze(text, is_expression=False, tokens=tokens)[1]


def fill_parameters(text: str, values: Mapping[str, str] | Sequence[str]) -> str:
    """Replace parameter markers with SQL literals; a marker without a value stays.

    For statements that run here: Spark fills its own.

    >>> fill_parameters("USE CATALOG IDENTIFIER(:c) -- :c", {"c": "'main'"})
    "USE CATALOG IDENTIFIER('main') -- :c"
    >>> fill_parameters("LIST ? LIMIT ?", ["'/a'"])
    "LIST '/a' LIMIT ?"
    """
    tokens = tokenize(text) or ()
    edits: list[Edit] = []
    positional = list(values) if not isinstance(values, Mapping) else []
    for i, token in enumerate(tokens):
        if token.text == "?" and positional:
            edits.append(Edit(token.start, token.end, positional.pop(0)))
        if token.text != ":" or i + 1 == len(tokens) or _follows_expression(tokens, i):
            continue
        name = tokens[i + 1]
        if isinstance(values, Mapping) and name.text in values and name.start == token.end:
            edits.append(Edit(token.start, name.end, values[name.text]))
    return apply_edits(text, edits)


def _follows_expression(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the colon touches the token before it, as in the path `column:a`."""
    return at > 0 and tokens[at - 1].end == tokens[at].start and tokens[at - 1].text not in "(,="


def _analyze(
    text: str, *, is_expression: bool, tokens: tuple[Token, ...] | None = None
) -> tuple[RewriteResult | None, tuple[Construct, ...]]:
    tokens = tokenize(text) if tokens is None else tokens
    if not tokens:
        return None, ()
    if not is_expression:
        for construct in _statements().get(tokens[0].word, ()):
            result = _try_statement(construct, tokens, text)
            if result is not None:
                return result, (construct,)
    edits: list[Edit] = []
    used: list[Construct] = []
    for construct in _with_edits():
        assert construct.edits is not None
        found = construct.edits(tokens)
        edits += found
        used += [construct] if found else []
    return (Edits(_sorted_edits(edits)) if edits else None), tuple(used)


def _try_statement(construct: Construct, tokens: tuple[Token, ...], text: str) -> RewriteResult | None:
    assert construct.statement is not None
    try:
        return construct.statement(TokenCursor(tokens, text))
    except Unmatched:
        return None


def _sorted_edits(edits: list[Edit]) -> tuple[Edit, ...]:
    """Sort the edits; of two that overlap, the first one wins."""
    out: list[Edit] = []
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if not out or edit.start >= out[-1].end:
            out.append(edit)
    return tuple(out)


@cache
def _statements() -> dict[str, tuple[Construct, ...]]:
    by_word: dict[str, tuple[Construct, ...]] = {}
    for construct in CONSTRUCTS:
        for word in construct.starts:
            by_word[word] = (*by_word.get(word, ()), construct)
    return by_word


@cache
def _with_edits() -> tuple[Construct, ...]:
    return tuple(c for c in CONSTRUCTS if c.edits is not None)
