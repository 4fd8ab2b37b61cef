"""MERGE with `* EXCEPT`, and from an earlier version of a table, which Spark and Delta lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lakeward.quoting import quote_identifier, quote_string
from lakeward.sql.construct import Construct, Edit, in_area
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched

# The column of an assignment that the rule MergeStars.java replaces; the value is the list.
_EXCEPT = "lakeward_star_except"
_TIMES = ("VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME")
_UNITS = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")


def _of_merges(find: Callable[[TokenCursor], Iterator[Edit]]) -> Callable[[Sequence[Token]], list[Edit]]:
    """Return the edits that `find` gives for each MERGE of a statement or a script, read up to its target."""

    def edits(tokens: Sequence[Token]) -> list[Edit]:
        found: list[Edit] = []
        for at in range(len(tokens)):
            cursor = TokenCursor(tokens)
            cursor.at = at
            if cursor.words("MERGE", "WITH", "SCHEMA", "EVOLUTION", "INTO") or cursor.words("MERGE", "INTO"):
                found += find(cursor)
        return found

    return edits


def _version(cursor: TokenCursor) -> Iterator[Edit]:
    """Write the source `t VERSION AS OF 3 s` as `(SELECT * FROM t VERSION AS OF 3) s`."""
    cursor.skip_to("USING")
    try:
        cursor.need("USING")
        first, name = cursor.next, cursor.name()
        cursor.words("FOR")
        cursor.one_of(*_TIMES)
        cursor.need("AS", "OF")
    except Unmatched:
        return
    begin = cursor.at
    if not cursor.skip_to("ON", ";"):
        return
    value = cursor.read(begin)
    if first is None or not value:
        return
    yield Edit(first.start, first.start, "(SELECT * FROM ")
    if len(value) > 2 and value[-2].word == "AS":
        yield Edit(value[-3].end, value[-3].end, ")")
    elif len(value) > 1 and value[-1].is_name and _ends_operand(value[-2]) and not _is_unit(value):
        yield Edit(value[-2].end, value[-2].end, ")")
    else:
        yield Edit(value[-1].end, value[-1].end, f") AS {quote_identifier(name[-1])}")


def _ends_operand(token: Token) -> bool:
    return token.is_quoted or token.is_name or token.text[-1].isalnum() or token.text == ")"


def _is_unit(value: Sequence[Token]) -> bool:
    """Whether the last word is the unit of an interval: `… - INTERVAL 1 DAY`."""
    interval = any(token.word == "INTERVAL" for token in value[-4:-2])
    return interval and value[-1].word.removesuffix("S") in _UNITS


def _stars(cursor: TokenCursor) -> Iterator[Edit]:
    """Write `SET * EXCEPT (…)` and `INSERT * EXCEPT (…)` as an assignment that Spark parses."""
    while verb := cursor.skip_to("SET", "INSERT", ";", "MERGE"):
        cursor.skip()
        star, begin = cursor.next, cursor.at
        if verb in (";", "MERGE"):
            return
        if star is None or not cursor.words("*", "EXCEPT", "("):
            continue
        try:
            excluded = f"array({', '.join(map(quote_string, cursor.part_list()))})"
        except Unmatched:
            return
        text = f"{_EXCEPT} = {excluded}" if verb == "SET" else f"({_EXCEPT}) VALUES ({excluded})"
        yield Edit(star.start, cursor.read(begin)[-1].end, text)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="DELETE, UPDATE with subqueries",
        example="DELETE FROM t WHERE id IN (SELECT id FROM u)",
        note="IN, EXISTS and scalar subqueries, also of DeltaTable; DESCRIBE HISTORY shows a MERGE",
        test="tests/sql/test_subquery_conditions.py",
    ),
    Construct(
        name="MERGE … * EXCEPT",
        verdict="rewritten",
        example="MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)",
        note="the target's other columns; with WITH SCHEMA EVOLUTION the source's",
        edits=_of_merges(_stars),
        test="tests/sql/test_merge.py",
    ),
    Construct(
        name="MERGE USING … VERSION AS OF, TIMESTAMP AS OF",
        verdict="rewritten",
        example="MERGE INTO t USING s VERSION AS OF 1 ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
        note="a subquery",
        edits=_of_merges(_version),
        test="tests/sql/test_merge.py",
    ),
)
