"""Primary and foreign keys: information for people on the platform, never enforced there either."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeward.sql.construct import BEGINNING, Construct
from lakeward.sql.constructs.column_list import between, items
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Edit, Outcome
from lakeward.sql.tokens import Token

__all__ = ["CONSTRUCTS", "key_clauses"]

_AREA = "Tables"
_OPTIONS = {
    *("NOT", "ENFORCED", "DEFERRABLE", "INITIALLY", "DEFERRED", "NORELY", "RELY", "MATCH", "FULL"),
    *("ON", "UPDATE", "DELETE", "NO", "ACTION", "TIMESERIES"),
}


def key_clauses(tokens: Sequence[Token], text: str) -> tuple[list[dict[str, Any]], list[Token]]:
    """The keys in the column list of CREATE TABLE, and the tokens that say so."""
    found: list[dict[str, Any]] = []
    gone: list[Token] = []
    listed = list(items(tokens))
    for number, item in enumerate(listed):
        if _begins_with_key(item):
            gone += between(tokens, listed[number - 1], item) if number > 0 else []
            gone += [t for t in item if not t.is_string]
            found.append(_key(Cursor(item, text), None))
        elif clause := _inside(item):
            gone += clause
            found.append(_key(Cursor(clause, text), Cursor(item).part()))
    return found, gone


def _keys(tokens: Sequence[Token]) -> list[Edit]:
    """Blanks in place of every key, where the statement is none that is carried out here."""
    words = [t.word for t in tokens]
    if words[0] not in ("CREATE", "REPLACE") or "TABLE" not in words[:5]:
        return []
    try:
        gone = key_clauses(tokens, "")[1]
    except Unmatched:
        return []
    return [Edit(t.start, t.end, " " * len(t.text)) for t in gone]


def _key(cursor: Cursor, column: str | None) -> dict[str, Any]:
    """`[CONSTRAINT n] PRIMARY KEY (…)`, `[FOREIGN KEY (…)] REFERENCES p (…)`; of `column` by default."""
    name = cursor.part() if cursor.words("CONSTRAINT") else None
    if cursor.words("PRIMARY", "KEY"):
        kind, columns, parent, meant = "PRIMARY KEY", _columns(cursor), None, []
    else:
        kind, columns = "FOREIGN KEY", _columns(cursor) if cursor.words("FOREIGN", "KEY") else []
        cursor.need("REFERENCES")
        parent, meant = cursor.name(3), _columns(cursor)
    if not columns and column is not None:
        columns = [column]
    return {"name": name, "type": kind, "columns": columns, "parent": parent, "parent_columns": meant}


def _columns(cursor: Cursor) -> list[str]:
    found: list[str] = []
    if not cursor.words("("):
        return found
    while not cursor.words(")"):
        if found:
            cursor.need(",")
        found.append(cursor.part())
        cursor.words("TIMESERIES")
    return found


def _begins_with_key(item: Sequence[Token]) -> bool:
    words = [t.word for t in item]
    if words[:1] == ["CONSTRAINT"]:
        words = words[2:]
    return words[:2] in (["PRIMARY", "KEY"], ["FOREIGN", "KEY"])


def _inside(item: Sequence[Token]) -> list[Token]:
    """The key among the constraints of a single column, with its options."""
    words = [t.word for t in item]
    start = next(
        (
            i
            for i in range(1, len(words))
            if words[i : i + 2] in (["PRIMARY", "KEY"], ["FOREIGN", "KEY"]) or words[i] == "REFERENCES"
        ),
        None,
    )
    if start is None:
        return []
    end = start + (1 if words[start] == "REFERENCES" else 2)
    if words[end : end + 1] == ["REFERENCES"]:
        end += 1
    if "REFERENCES" in words[start:end]:
        while end < len(item) and (item[end].is_name or item[end].text == ".") and words[end] not in _OPTIONS:
            end += 1
        if end < len(item) and item[end].text == "(":
            end = next((i for i in range(end, len(item)) if item[i].text == ")"), len(item) - 1) + 1
    while end < len(item) and words[end] in _OPTIONS and words[end : end + 2] != ["NOT", "NULL"]:
        end += 1
    if start >= 2 and words[start - 2] == "CONSTRAINT":
        start -= 2
    return list(item[start:end])


def _alter(cursor: Cursor) -> Outcome:
    """ADD [CONSTRAINT name] PRIMARY KEY …, DROP PRIMARY KEY, DROP FOREIGN KEY (…)."""
    cursor.need("ALTER", "TABLE")
    table = cursor.name(3)
    if cursor.words("ADD"):
        key = _key(cursor, None)
        cursor.finish()
        if not key["columns"]:
            raise Unmatched
        return Command("add_key", {"table": table, "key": key})
    cursor.need("DROP")
    kind = f"{cursor.one_of('PRIMARY', 'FOREIGN')} KEY"
    cursor.need("KEY")
    if_exists = cursor.words("IF", "EXISTS")
    columns = _columns(cursor)
    if_exists = cursor.words("IF", "EXISTS") or if_exists
    cursor.words("RESTRICT")
    cursor.words("CASCADE")
    cursor.end()
    return Command("drop_key", {"table": table, "kind": kind, "columns": columns, "if_exists": if_exists})


def _drop_constraint(cursor: Cursor) -> Outcome:
    """DROP CONSTRAINT name, which may be a key's or one of Delta's."""
    begin = cursor.at
    cursor.need("ALTER", "TABLE")
    table = cursor.name(3)
    cursor.need("DROP", "CONSTRAINT")
    cursor.words("IF", "EXISTS")
    name = cursor.part()
    cursor.words("RESTRICT")
    cursor.words("CASCADE")
    cursor.end()
    return Command("drop_constraint", {"table": table, "constraint": name, "text": cursor.text(begin)})


CONSTRUCTS = (
    Construct(
        "PRIMARY KEY, FOREIGN KEY where no CREATE TABLE is carried out",
        _AREA,
        "rewritten",
        "CREATE EXTERNAL TABLE t (id INT NOT NULL PRIMARY KEY) LOCATION '/x'",
        "left out: neither side enforces them",
        edits=_keys,
        trigger=r"\b(?:primary|foreign)\s+key\b|\breferences\b",
        test="tests/sql/test_rewrite.py",
    ),
    Construct(
        "ALTER TABLE … ADD PRIMARY KEY, FOREIGN KEY",
        _AREA,
        "added",
        "ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (id)",
        "kept for the information schema: neither side enforces keys",
        ("ALTER",),
        _alter,
        test="tests/sql/test_information_schema.py",
    ),
    Construct(
        "ALTER TABLE … DROP CONSTRAINT",
        _AREA,
        "added",
        "ALTER TABLE t DROP CONSTRAINT pk",
        "a key's, else Delta's own",
        ("ALTER",),
        _drop_constraint,
        trigger=BEGINNING + r"alter\s+table\s.*\bdrop\s+constraint\b",
        test="tests/sql/test_information_schema.py",
    ),
)
