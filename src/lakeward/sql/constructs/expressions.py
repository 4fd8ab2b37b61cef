"""Expressions: paths into JSON and VARIANT, casts that never fail."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lakeward.sql.construct import Construct, as_is
from lakeward.sql.constructs.paths import Path, paths
from lakeward.sql.outcome import Edit
from lakeward.sql.tokens import Token

__all__ = ["CONSTRUCTS"]

_AREA = "Expressions"
# The JVM half knows the mark; a path of a string literal or of a column ends before it.
_TRY = ":lakeward_try_cast::"


def _try_casts(tokens: Sequence[Token]) -> list[Edit]:
    return [Edit(t.start, t.end, _TRY) for t in tokens if t.text == "?::"]


def _literals(tokens: Sequence[Token]) -> list[Edit]:
    """`'…':a` and `'…'?::int`: Spark reads the colon as a parameter that goes on with the string."""
    edits: list[Edit] = []
    for i, token in enumerate(tokens[1:], 1):
        if token.text not in (":", "?::") or not tokens[i - 1].is_string:
            continue
        first = i - 1
        while first and tokens[first - 1].is_string:
            first -= 1
        edits += [
            Edit(tokens[first].start, tokens[first].start, "("),
            Edit(tokens[i - 1].end, tokens[i - 1].end, ")"),
        ]
    return edits


def _double_quotes(tokens: Sequence[Token]) -> list[Edit]:
    return [
        Edit(part.start, part.end, f"'{part.text[1:-1]}'")
        for path in paths(tokens)
        for part in path.tokens
        if part.text[0] == '"' and "'" not in part.text
    ]


def _dotted_names(tokens: Sequence[Token]) -> list[Edit]:
    edits: list[Edit] = []
    for path in paths(tokens):
        for before, part in zip((path.colon, *path.tokens), path.tokens, strict=False):
            if part.text[0] == "`" and any(c in part.text for c in ".[") and "'" not in part.text:
                if before.text == ".":
                    edits.append(Edit(before.start, before.end, ""))
                edits.append(Edit(part.start, part.end, f"['{part.text[1:-1]}']"))
    return edits


def _wildcards(tokens: Sequence[Token]) -> list[Edit]:
    return [edit for path in paths(tokens) if (edit := _folded(path)) is not None]


def _folded(path: Path) -> Edit | None:
    """`a.b[*].c` as `` `a.b[*]`.c ``: one quoted name, which Spark's parser takes into the path as it is."""
    stars = [i for i, token in enumerate(path.tokens) if token.text == "*"]
    if not stars:
        return None
    folded = path.tokens[: stars[-1] + 2]
    # No comment is as short as the space in `[ * ]`.
    if any(b.start - a.end > 2 for a, b in pairwise(folded)):
        return None
    inside = "".join(t.text[1:-1] if t.text[0] == "`" else t.text for t in folded)
    return Edit(folded[0].start, folded[-1].end, f"`{inside}`")


CONSTRUCTS = (
    Construct(
        "column:path on STRING",
        _AREA,
        "added",
        "SELECT raw:store.fruit[0].weight::double FROM sales",
        "a STRING named after the last part; names in brackets are met as written, others in any case",
    ),
    Construct("column:path on VARIANT", _AREA, "as is", "SELECT parse_json('{\"a\": 1}'):a::int"),
    Construct(
        "A literal before a path",
        _AREA,
        "rewritten",
        "SELECT '{\"a\": 1}':a",
        "put in parentheses",
        edits=_literals,
    ),
    Construct(
        'column:["name"]',
        _AREA,
        "rewritten",
        'SELECT raw:["zip code"] FROM sales',
        "double quotes become single ones",
        edits=_double_quotes,
    ),
    Construct(
        "column:`a.b`",
        _AREA,
        "rewritten",
        "SELECT raw:`a.b`.c FROM sales",
        "a quoted name with a dot is one name",
        edits=_dotted_names,
        trigger=r"[:.]\s*`[^`]*[.\[][^`]*`",
    ),
    Construct(
        "column:a[*].b",
        _AREA,
        "rewritten",
        "SELECT raw:items[*].price FROM sales",
        edits=_wildcards,
        trigger=r"\[\s*\*\s*\]",
    ),
    Construct("?::", _AREA, "rewritten", "SELECT 'x' ?:: int", "try_cast", edits=_try_casts, trigger=r"\?::"),
    as_is("::", _AREA, "SELECT '5'::int"),
    as_is("IDENTIFIER()", _AREA, "SELECT IDENTIFIER('id') FROM range(3)"),
    as_is("try_cast", _AREA, "SELECT try_cast('x' AS INT)"),
)
