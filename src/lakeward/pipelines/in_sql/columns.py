"""The list in brackets behind a dataset's name: columns, expectations, keys."""

from __future__ import annotations

from dataclasses import replace

from lakeward.pipelines.elements import Action, Rule
from lakeward.pipelines.in_sql.reading import Reader
from lakeward.pipelines.in_sql.statement import Column
from lakeward.sql import Unmatched, tokenize

__all__ = ["as_ddl", "masks_in", "plain_ddl", "read_columns"]

_ATTRIBUTES = (
    *("NOT NULL", "NULL", "COMMENT", "GENERATED ALWAYS AS", "GENERATED", "DEFAULT", "MASK", "PRIMARY KEY"),
    *("CONSTRAINT", "REFERENCES", "FOREIGN KEY", "COLLATE", "UNIQUE", "EXPECT"),
)
_ACTIONS: dict[str, Action] = {"DROP ROW": "drop", "FAIL UPDATE": "fail"}


def read_columns(reader: Reader) -> tuple[tuple[Column, ...], tuple[Rule, ...]]:
    """The columns and expectations of `( … )`; keys inform the platform's optimizer and say nothing here.

    Raises Unmatched.
    """
    columns: list[Column] = []
    rules: list[Rule] = []
    inside = reader.brackets()
    for item in inside.items():
        try:
            if item.is_next("CONSTRAINT"):
                rules += _constraint(item)
            elif not item.any_words("PRIMARY KEY", "FOREIGN KEY", "UNIQUE", "CHECK"):
                columns.append(_column(item, rules))
        except Unmatched:
            reader.stopped_at = item.next or item.stopped_at
            raise
    return tuple(columns), tuple(rules)


def _constraint(item: Reader) -> list[Rule]:
    item.need("CONSTRAINT")
    name = item.part()
    if not item.words("EXPECT"):
        item.one_of("PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "REFERENCES", "NOT")
        return []
    condition = item.brackets()
    begin, end = condition.rest()
    action: Action = "warn"
    if item.words("ON", "VIOLATION"):
        found = item.any_words(*_ACTIONS)
        if found is None:
            raise Unmatched
        action = _ACTIONS[found]
    return [Rule(name, item.whole[begin:end], action)]


def _column(item: Reader, rules: list[Rule]) -> Column:
    name = item.part()
    item.words(":")
    type_ = "" if item.next is None or item.is_next(*_ATTRIBUTES) else item.until(*_ATTRIBUTES)
    comment: str | None = None
    generated: str | None = None
    mask: str | None = None
    not_null = False
    while item.next is not None:
        if item.words("COMMENT"):
            comment = item.string()
        elif item.words("NOT", "NULL"):
            not_null = True
        elif item.words("GENERATED", "ALWAYS", "AS") and item.is_next("("):
            begin, end = item.brackets().rest()
            generated = item.whole[begin:end]
        elif item.words("MASK"):
            mask = item.until(*_ATTRIBUTES)
        elif item.words("DEFAULT") or item.words("COLLATE"):
            item.until(*_ATTRIBUTES)
        elif item.is_next("CONSTRAINT"):
            rules += _constraint(item)
            _skip_key(item)
        elif item.any_words("PRIMARY KEY", "FOREIGN KEY", "REFERENCES", "UNIQUE"):
            _skip_key(item)
        elif not item.words("NULL"):
            raise Unmatched
    return Column(name, type_, comment, not_null, generated, mask)


def _skip_key(item: Reader) -> None:
    if item.next is not None and not item.is_next(*_ATTRIBUTES):
        item.until("NOT NULL", "COMMENT", "MASK", "GENERATED")


def as_ddl(columns: tuple[Column, ...]) -> str | None:
    """The typed columns as DDL text, None when a column has no type.

    >>> as_ddl((Column("id", "BIGINT", "it's", not_null=True),))
    "`id` BIGINT NOT NULL COMMENT 'it\\\\'s'"
    """
    if not columns or not all(column.type for column in columns):
        return None
    return ", ".join(_ddl(column) for column in columns)


def plain_ddl(text: str) -> str | None:
    """Declared columns without keys and masks, as Spark's own DDL has them; None for other text.

    >>> plain_ddl("id INT NOT NULL PRIMARY KEY, ssn STRING MASK m, CONSTRAINT pk PRIMARY KEY (id)")
    '`id` INT NOT NULL, `ssn` STRING'
    """
    columns = _declared(text)
    if columns is None or any(column.generated for column in columns):
        return None
    return as_ddl(tuple(replace(column, mask=None) for column in columns))


def masks_in(text: str) -> dict[str, str]:
    """The masks of declared columns, by column: the function, and the further columns that it gets.

    >>> masks_in("id INT, ssn STRING MASK s.f USING COLUMNS (id) COMMENT 'c'")
    {'ssn': 's.f USING COLUMNS (id)'}
    """
    return {column.name: column.mask for column in _declared(text) or () if column.mask is not None}


def _declared(text: str) -> tuple[Column, ...] | None:
    reader = Reader(tokenize(f"({text})") or (), f"({text})")
    try:
        columns, _ = read_columns(reader)
        reader.end()
    except Unmatched:
        return None
    return columns


def _ddl(column: Column) -> str:
    name = column.name.replace("`", "``")
    text = f"`{name}` {column.type}{' NOT NULL' if column.not_null else ''}"
    text += f" MASK {column.mask}" if column.mask is not None else ""
    if column.comment is None:
        return text
    comment = column.comment.replace("\\", "\\\\").replace("'", "\\'")
    return f"{text} COMMENT '{comment}'"
