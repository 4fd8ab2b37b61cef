"""Expressions, queries and scripts: JSON paths, casts and versions; Spark itself runs most other forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from lakeward.quoting import quote_identifier
from lakeward.sql.construct import Construct, Edit, in_area, supported
from lakeward.sql.token_cursor import Token, unquote_token

# The JVM side recognizes this mark; a path of a string literal or of a column ends before it.
_TRY = ":lakeward_try_cast::"


class JsonPath(NamedTuple):
    """A path: the colon before it, and its own tokens."""

    colon: Token
    tokens: tuple[Token, ...]


def _json_paths(tokens: Sequence[Token]) -> Iterator[JsonPath]:
    """Yield all paths; a colon that follows no expression begins a parameter."""
    for i, token in enumerate(tokens):
        if token.text == ":" and i and _ends_expression(tokens[i - 1]):
            end = _path_end(tokens, i + 1)
            if end > i + 1:
                yield JsonPath(token, tuple(tokens[i + 1 : end]))


def _ends_expression(token: Token) -> bool:
    return token.is_name or token.is_string or token.text in (")", "]")


def _path_end(tokens: Sequence[Token], at: int) -> int:
    """Return the position behind the path that begins at `at`."""
    if at < len(tokens) and tokens[at].is_name:
        at += 1
    elif not _is_bracket(tokens, at):
        return at
    while at < len(tokens):
        if tokens[at].text == "." and at + 1 < len(tokens) and tokens[at + 1].is_name:
            at += 2
        elif _is_bracket(tokens, at):
            at += 3
        else:
            break
    return at


def _is_bracket(tokens: Sequence[Token], at: int) -> bool:
    """Return whether ['name'], [0] or [*] begins at `at`."""
    if at + 2 >= len(tokens) or tokens[at].text != "[" or tokens[at + 2].text != "]":
        return False
    inside = tokens[at + 1]
    return inside.is_string or inside.text == "*" or inside.text.isdigit()


# An expression begins behind these words, so that `?::int` there is the cast of a parameter.
_BEFORE_EXPRESSIONS = frozenset(
    (
        *("SELECT", "DISTINCT", "ALL", "WHERE", "HAVING", "QUALIFY", "ON", "BY", "LIMIT", "OFFSET", "VALUES"),
        *(
            "AND",
            "OR",
            "NOT",
            "IN",
            "LIKE",
            "ILIKE",
            "RLIKE",
            "BETWEEN",
            "FROM",
            "CASE",
            "WHEN",
            "THEN",
            "ELSE",
        ),
        *("IF", "RETURN", "DEFAULT", "USING", "DIV", "INTERVAL", "EXTEND", "SET", "AGGREGATE"),
    )
)


def _try_casts(tokens: Sequence[Token]) -> list[Edit]:
    return [
        Edit(token.start, token.end, _TRY)
        for before, token in zip((None, *tokens), tokens, strict=False)
        if token.text == "?::" and before is not None and not _begins_expression(before)
    ]


def _begins_expression(before: Token) -> bool:
    """Return whether an expression begins behind the token, instead of continuing."""
    if before.is_name:
        return before.text.upper() in _BEFORE_EXPRESSIONS
    return not (before.is_string or before.text in (")", "]", "?") or before.text[-1].isalnum())


def _literals(tokens: Sequence[Token]) -> list[Edit]:
    """Parenthesize the literal in `'…':a` and `'…'?::int`: Spark reads the colon as a parameter.

    The parameter in `:x:a` and `? ?::int`, too.
    """
    edits: list[Edit] = []
    for i, token in enumerate(tokens[1:], 1):
        if token.text not in (":", "?::"):
            continue
        first = _first_of_operand(tokens, i - 1)
        if first is not None:
            edits += [
                Edit(tokens[first].start, tokens[first].start, "("),
                Edit(tokens[i - 1].end, tokens[i - 1].end, ")"),
            ]
    return edits


def _first_of_operand(tokens: Sequence[Token], last: int) -> int | None:
    """Return where the literal or parameter begins that ends at `last`; None for another operand."""
    if tokens[last].text == "?":
        return last
    if tokens[last].is_string:
        first = last
        while first and tokens[first - 1].is_string:
            first -= 1
        return first
    is_named = tokens[last].is_name and last > 0 and tokens[last - 1].text == ":"
    return last - 1 if is_named and (last == 1 or _begins_expression(tokens[last - 2])) else None


def _double_quotes(tokens: Sequence[Token]) -> list[Edit]:
    return [
        Edit(part.start, part.end, f"'{part.text[1:-1]}'")
        for path in _json_paths(tokens)
        for part in path.tokens
        if part.text[0] == '"' and "'" not in part.text
    ]


def _dotted_names(tokens: Sequence[Token]) -> list[Edit]:
    edits: list[Edit] = []
    for path in _json_paths(tokens):
        for before, part in zip((path.colon, *path.tokens), path.tokens, strict=False):
            if part.text[0] == "`" and any(c in part.text for c in ".[") and "'" not in part.text:
                if before.text == ".":
                    edits.append(Edit(before.start, before.end, ""))
                edits.append(Edit(part.start, part.end, f"['{part.text[1:-1]}']"))
    return edits


def _wildcards(tokens: Sequence[Token]) -> list[Edit]:
    return [edit for path in _json_paths(tokens) if (edit := _fold_wildcards(path)) is not None]


def _fold_wildcards(path: JsonPath) -> Edit | None:
    """Rewrite `a.b[*].c` as `` `a.b[*]`.c ``: Spark's parser keeps a quoted name unchanged."""
    stars = [i for i, token in enumerate(path.tokens) if token.text == "*"]
    if not stars:
        return None
    folded = path.tokens[: stars[-1] + 2]
    # No comment is as short as the space in `[ * ]`.
    if any(b.start - a.end > 2 for a, b in pairwise(folded)):
        return None
    inside = "".join(t.text[1:-1] if t.text[0] == "`" else t.text for t in folded)
    return Edit(folded[0].start, folded[-1].end, f"`{inside}`")


# The number of a version, or year to milliseconds.
_VERSION = re.compile(r"[vV]\d+|\d{17}")


def _at_version(tokens: Sequence[Token]) -> list[Edit]:
    """Rewrite `t@v3` as the name `` `t@v3` ``, which the rule VersionedNames.java resolves."""
    return [
        Edit(table.start, version.end, quote_identifier(f"{unquote_token(table.text)}@{version.text}"))
        for table, at, version in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if at.text == "@"
        and table.is_name
        and table.end == at.start
        and at.end == version.start
        and _VERSION.fullmatch(version.text)
    ]


CONSTRUCTS = in_area(
    "Expressions",
    Construct(
        "column:path on STRING",
        "SELECT raw:store.fruit[0].weight::double FROM sales",
        "emulated",
        "a STRING named after the last part; names in brackets are case-sensitive, others are not",
    ),
    Construct("column:path on VARIANT", "SELECT parse_json('{\"a\": 1}'):a::int", "supported"),
    Construct(
        "A literal before a path",
        "SELECT '{\"a\": 1}':a",
        "rewritten",
        "the literal is parenthesized",
        edits=_literals,
    ),
    Construct(
        'column:["name"]',
        'SELECT raw:["zip code"] FROM sales',
        "rewritten",
        "double quotes become single quotes",
        edits=_double_quotes,
    ),
    Construct(
        "column:`a.b`",
        "SELECT raw:`a.b`.c FROM sales",
        "rewritten",
        "a quoted name with a dot is one name",
        edits=_dotted_names,
        trigger=r"[:.]\s*`[^`]*[.\[][^`]*`",
    ),
    Construct(
        "column:a[*].b",
        "SELECT raw:items[*].price FROM sales",
        "rewritten",
        edits=_wildcards,
        trigger=r"\[\s*\*\s*\]",
    ),
    Construct("?::", "SELECT 'x' ?:: int", "rewritten", "try_cast", edits=_try_casts, trigger=r"\?::"),
    supported("::", "SELECT '5'::int"),
    supported("IDENTIFIER()", "SELECT IDENTIFIER('id') FROM range(3)"),
    supported("try_cast", "SELECT try_cast('x' AS INT)"),
) + in_area(
    "Queries and scripts",
    supported("Named parameters", "SELECT :x", "`spark.sql(text, args={…})`"),
    supported("Positional parameters", "SELECT ?", "`spark.sql(text, args=[…])`"),
    supported(
        "WITH RECURSIVE",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    ),
    supported("QUALIFY", "SELECT id FROM range(5) QUALIFY row_number() OVER (ORDER BY id DESC) = 1"),
    supported("GROUP BY ALL", "SELECT id, count(*) FROM range(3) GROUP BY ALL"),
    supported("ORDER BY ALL", "SELECT id FROM range(3) ORDER BY ALL"),
    supported("* EXCEPT", "SELECT * EXCEPT (id) FROM (SELECT 1 AS id, 2 AS b)"),
    supported("PIVOT, UNPIVOT", "SELECT * FROM VALUES (1, 2) t(a, b) PIVOT (sum(a) FOR b IN (2))"),
    supported("Pipes", "FROM range(3) |> WHERE id > 1 |> SELECT id"),
    supported("Session variables", "DECLARE OR REPLACE VARIABLE v INT DEFAULT 5"),
    supported("SET, RESET", "SET spark.sql.shuffle.partitions = 4"),
    supported("${conf}", "SELECT '${spark.app.name}'", "Spark substitutes the setting's value"),
    supported("EXECUTE IMMEDIATE", "EXECUTE IMMEDIATE 'SELECT 1 AS a'"),
    supported("BEGIN … END", "BEGIN DECLARE x INT DEFAULT 1; SELECT x; END"),
    supported("Time travel", "SELECT * FROM t VERSION AS OF 0"),
    Construct(
        "t@v1, t@yyyyMMddHHmmssSSS",
        "SELECT * FROM t@v0",
        "rewritten",
        "VERSION AS OF, TIMESTAMP AS OF; also in `spark.table` and `spark.read.table`",
        edits=_at_version,
    ),
    supported("table_changes", "SELECT * FROM table_changes('t', 0)"),
)
