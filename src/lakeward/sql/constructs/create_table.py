"""CREATE TABLE with clauses that Spark has not: keys, a row filter, masks."""

from __future__ import annotations

from lakeward.sql.construct import Construct
from lakeward.sql.constructs.keys import key_clauses
from lakeward.sql.constructs.policies import policy_clauses
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Edit, Outcome, applied
from lakeward.sql.tokens import tokenize

__all__ = ["CONSTRUCTS"]


def _create(cursor: Cursor) -> Outcome:
    """The statement without the clauses, in which every place is still the user's, and what they say."""
    first = cursor.at
    cursor.need("CREATE")
    replace = cursor.words("OR", "REPLACE")
    cursor.need("TABLE")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    table = cursor.name(3)
    if any("/" in part for part in table):
        raise Unmatched
    cursor.finish()
    text = cursor.text(first)
    tokens = tokenize(text) or ()
    row_filter, masks, policies = policy_clauses(tokens, text)
    keys, gone = key_clauses(tokens, text)
    if not (gone or policies):
        raise Unmatched
    places = sorted({token.start: token for token in (*gone, *policies)}.values(), key=lambda t: t.start)
    arguments = {
        "table": table,
        "text": applied(text, [Edit(t.start, t.end, " " * len(t.text)) for t in places]),
        "replace": replace,
        "if_not_exists": if_not_exists,
    }
    return Command("create_table", {**arguments, "row_filter": row_filter, "masks": masks, "keys": keys})


CONSTRUCTS = (
    Construct(
        "PRIMARY KEY, FOREIGN KEY, MASK, ROW FILTER in CREATE TABLE",
        "Tables",
        "added",
        "CREATE TABLE t (id INT PRIMARY KEY, ssn STRING MASK hidden) WITH ROW FILTER mine ON (id)",
        "keys are kept for the information schema; the table and its policies, or neither",
        ("CREATE",),
        _create,
        test="tests/sql/test_policies.py",
    ),
)
