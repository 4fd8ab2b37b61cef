"""Primary and foreign keys: information for people on the platform, never enforced there either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeward.sql.construct import Construct
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Edit, Outcome
from lakeward.sql.tokens import Token

__all__ = ["CONSTRUCTS"]

_AREA = "Tables"
_OPTIONS = {
    *("NOT", "ENFORCED", "DEFERRABLE", "INITIALLY", "DEFERRED", "NORELY", "RELY", "MATCH", "FULL"),
    *("ON", "UPDATE", "DELETE", "NO", "ACTION", "TIMESERIES"),
}


def _keys(tokens: Sequence[Token]) -> list[Edit]:
    """Blanks in place of every key in the column list of CREATE TABLE."""
    words = [t.word for t in tokens]
    if words[0] not in ("CREATE", "REPLACE") or "TABLE" not in words[:5]:
        return []
    items = list(_items(tokens))
    gone: list[Token] = []
    for number, item in enumerate(items):
        if _begins_with_key(item):
            comma_before = number > 0
            gone += tokens_between(tokens, items[number - 1], item) if comma_before else []
            gone += item
        else:
            gone += _inside(item)
    return [Edit(t.start, t.end, " " * len(t.text)) for t in gone if not t.is_string]


def tokens_between(tokens: Sequence[Token], left: Sequence[Token], right: Sequence[Token]) -> list[Token]:
    """What stands between two items: a comma."""
    return [t for t in tokens if left[-1].end <= t.start and t.end <= right[0].start]


def _items(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The items of the first parentheses, which are the columns and constraints of a table."""
    depth = 0
    item: list[Token] = []
    for token in tokens:
        if token.text == ")" and depth == 1:
            break
        if depth == 0 and token.word in ("AS", "USING", "LIKE", "CLONE"):
            return
        if token.text == "," and depth == 1:
            yield item
            item = []
        elif depth:
            item.append(token)
        depth += {"(": 1, ")": -1, "<": 0}.get(token.text, 0)
    if item:
        yield item


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
    """ADD [CONSTRAINT name] PRIMARY KEY …, DROP PRIMARY KEY …: nothing to do for a table that exists."""
    cursor.need("ALTER", "TABLE")
    table = cursor.name()
    verb = cursor.one_of("ADD", "DROP")
    if verb == "ADD" and cursor.words("CONSTRAINT"):
        cursor.part()
    if not cursor.words("PRIMARY", "KEY") and not cursor.words("FOREIGN", "KEY"):
        raise Unmatched
    cursor.finish()
    return Command("require_table", {"table": table})


CONSTRUCTS = (
    Construct(
        "PRIMARY KEY, FOREIGN KEY",
        _AREA,
        "rewritten",
        "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, o INT, CONSTRAINT f FOREIGN KEY (o) REFERENCES u (id))",
        "left out: neither side enforces them",
        edits=_keys,
        trigger=r"\b(?:primary|foreign)\s+key\b|\breferences\b",
    ),
    Construct(
        "ALTER TABLE … ADD PRIMARY KEY",
        _AREA,
        "added",
        "ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (id)",
        "changes nothing: neither side enforces keys",
        ("ALTER",),
        _alter,
    ),
)
