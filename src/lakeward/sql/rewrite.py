"""From a text to what the front end does about it. Pure: no Spark, no files."""

from __future__ import annotations

from functools import cache

from lakeward.sql.construct import Construct
from lakeward.sql.constructs import CONSTRUCTS
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Edit, Edits, Outcome
from lakeward.sql.tokens import Token, tokenize

__all__ = ["constructs_in", "rewrite", "triggers"]


def triggers() -> str:
    """The pattern of all texts that Spark would parse in another sense than the platform."""
    return "|".join(f"(?:{c.trigger})" for c in CONSTRUCTS if c.trigger)


def rewrite(text: str, *, is_expression: bool = False) -> Outcome | None:
    """What to do with a text that Spark does not parse, or that a trigger found; None: leave it to Spark.

    Never raises: a text that cannot be read as tokens is Spark's business, and so is its error.

    >>> rewrite("select 1"), rewrite("select 'unclosed")
    (None, None)
    """
    return _examined(text, is_expression=is_expression)[0]


def constructs_in(text: str) -> tuple[Construct, ...]:
    """The constructs of the table that a statement makes use of, for those who only look at it."""
    return _examined(text, is_expression=False)[1]


def _examined(text: str, *, is_expression: bool) -> tuple[Outcome | None, tuple[Construct, ...]]:
    tokens = tokenize(text)
    if not tokens:
        return None, ()
    if not is_expression:
        for construct in _statements().get(tokens[0].word, ()):
            outcome = _tried(construct, tokens, text)
            if outcome is not None:
                return outcome, (construct,)
    edits: list[Edit] = []
    used: list[Construct] = []
    for construct in _with_edits():
        assert construct.edits is not None
        found = construct.edits(tokens)
        edits += found
        used += [construct] if found else []
    return (Edits(_in_order(edits)) if edits else None), tuple(used)


def _tried(construct: Construct, tokens: tuple[Token, ...], text: str) -> Outcome | None:
    assert construct.statement is not None
    try:
        return construct.statement(Cursor(tokens, text))
    except Unmatched:
        return None


def _in_order(edits: list[Edit]) -> tuple[Edit, ...]:
    """Sorted; of two that meet, the one that begins first stays."""
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
