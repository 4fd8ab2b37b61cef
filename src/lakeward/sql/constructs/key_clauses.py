"""Clauses of keys in statements: PRIMARY KEY, FOREIGN KEY and UNIQUE, of tables and of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakeward.sql.construct import Edit
from lakeward.sql.constructs.column_list import column_list_items, tokens_between
from lakeward.sql.token_cursor import Token, TokenCursor

_OPTIONS = {
    *("NOT", "ENFORCED", "DEFERRABLE", "INITIALLY", "DEFERRED", "NORELY", "RELY", "MATCH", "FULL"),
    *("ON", "UPDATE", "DELETE", "NO", "ACTION", "TIMESERIES"),
}


@dataclass(frozen=True)
class Key:
    """A primary, foreign or unique key.

    Attributes:
        name: None until the key is stored, if the user gave none.
        type: PRIMARY KEY, FOREIGN KEY or UNIQUE.
        columns: The table's columns.
        parent: The referenced table of a foreign key.
        parent_columns: The referenced columns; empty for the parent's primary key.
    """

    name: str | None
    type: str
    columns: list[str]
    parent: list[str] | None
    parent_columns: list[str]

    def text(self, quote: Callable[[str], str]) -> str:
        """Return the clause of the key, without its name.

        >>> Key("k", "PRIMARY KEY", ["id"], None, []).text(str.upper)
        'PRIMARY KEY (ID)'
        """
        text = f"{self.type} ({', '.join(map(quote, self.columns))})"
        if self.parent is None:
            return text
        parent, columns = ".".join(map(quote, self.parent)), ", ".join(map(quote, self.parent_columns))
        return f"{text} REFERENCES {parent} ({columns})"


def key_clauses(tokens: Sequence[Token], text: str) -> tuple[list[Key], list[Token]]:
    """Return the keys in the column list of CREATE TABLE, and the tokens that declare them."""
    keys: list[Key] = []
    removed: list[Token] = []
    items = list(column_list_items(tokens))
    for number, item in enumerate(items):
        if _is_table_constraint(item):
            removed += tokens_between(tokens, items[number - 1], item) if number > 0 else []
            removed += [t for t in item if not t.is_string]
            keys.append(read_key(TokenCursor(item, text), None))
        elif clause := _column_constraint(item):
            removed += clause
            keys.append(read_key(TokenCursor(clause, text), TokenCursor(item).part()))
    return keys, removed


def implied_not_null(tokens: Sequence[Token], keys: Sequence[Key]) -> list[Edit]:
    """Return the edits that make the columns of the primary key NOT NULL in CREATE TABLE.

    Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-create-table-constraint
    """
    names = {name.lower() for key in keys if key.type == "PRIMARY KEY" for name in key.columns}
    return [
        Edit(item[-1].end, item[-1].end, " NOT NULL")
        for item in column_list_items(tokens)
        if not _is_table_constraint(item)
        and TokenCursor(item).part().lower() in names
        and not _is_not_null(item)
    ]


def _is_not_null(item: Sequence[Token]) -> bool:
    """Return whether a column is NOT NULL itself; fields of a struct may be, too."""
    depth, before = 0, ""
    for token in item:
        depth += token.text.count("<") - token.text.count(">") if not token.is_string else 0
        if depth == 0 and (before, token.word) == ("NOT", "NULL"):
            return True
        before = token.word if depth == 0 else ""
    return False


def read_key(cursor: TokenCursor, column: str | None) -> Key:
    """Parse a key of a table or column.

    `[CONSTRAINT n]`, then `PRIMARY KEY (…)`, `UNIQUE (…)` or `[FOREIGN KEY (…)] REFERENCES p (…)`.
    """
    name = cursor.part() if cursor.words("CONSTRAINT") else None
    default = [column] if column is not None else []
    if cursor.words("PRIMARY", "KEY"):
        return Key(name, "PRIMARY KEY", read_columns(cursor) or default, None, [])
    if cursor.words("UNIQUE"):
        return Key(name, "UNIQUE", read_columns(cursor) or default, None, [])
    columns = read_columns(cursor) if cursor.words("FOREIGN", "KEY") else []
    cursor.need("REFERENCES")
    parent = cursor.name(3)
    return Key(name, "FOREIGN KEY", columns or default, parent, read_columns(cursor))


def read_columns(cursor: TokenCursor) -> list[str]:
    columns: list[str] = []
    if not cursor.words("("):
        return columns
    while not cursor.words(")"):
        if columns:
            cursor.need(",")
        columns.append(cursor.part())
        cursor.words("TIMESERIES")
    return columns


def declares_check(tokens: Sequence[Token]) -> bool:
    """Return whether the column list has a CHECK constraint, of the table or of a column."""
    return any(
        item[at].word == "CHECK" and item[at + 1].text == "(" and not _is_nested(item, at)
        for item in column_list_items(tokens)
        for at in range(len(item) - 1)
    )


def _is_table_constraint(item: Sequence[Token]) -> bool:
    words = [t.word for t in item]
    if words[:1] == ["CONSTRAINT"]:
        words = words[2:]
    return words[:2] in (["PRIMARY", "KEY"], ["FOREIGN", "KEY"], ["UNIQUE", "("])


def _starts_column_constraint(item: Sequence[Token], at: int) -> bool:
    words = [t.word for t in item[at : at + 2]]
    if words in (["PRIMARY", "KEY"], ["FOREIGN", "KEY"]) or words[0] == "REFERENCES":
        return True
    # The first two tokens are name and type; a type or an expression can have a column of that name.
    return at > 1 and words[0] == "UNIQUE" and not _is_nested(item, at)


def _is_nested(item: Sequence[Token], at: int) -> bool:
    """Return whether a token is within parentheses, or within the angle brackets of a type."""
    parentheses = brackets = 0
    for token in item[:at]:
        parentheses += (token.text == "(") - (token.text == ")")
        if parentheses == 0 and not token.is_quoted:
            brackets += token.text.count("<") - token.text.count(">")
    return parentheses > 0 or brackets > 0


def _column_constraint(item: Sequence[Token]) -> list[Token]:
    """Return the tokens of the key among the constraints of one column, with its options."""
    words = [t.word for t in item]
    start = next((i for i in range(1, len(words)) if _starts_column_constraint(item, i)), None)
    if start is None:
        return []
    end = start + (1 if words[start] in ("REFERENCES", "UNIQUE") else 2)
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
