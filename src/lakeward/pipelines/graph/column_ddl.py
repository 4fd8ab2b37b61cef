"""Column lists as DDL text: columns, expectations, keys, masks, generated columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lakeward.pipelines.graph.elements import Expectation, ViolationAction, without_live
from lakeward.quoting import quote_identifier, quote_name, quote_string
from lakeward.sql import Token, TokenCursor, Unmatched, tokenize

_OPEN = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_NESTED_TYPES = ("ARRAY", "MAP", "STRUCT")


class NestedTokenCursor(TokenCursor):
    """A token cursor that reads up to a phrase and into brackets."""

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        super().__init__(tokens, text)
        self.source = text
        self.stopped_at: Token | None = None

    @property
    def position(self) -> int:
        """Return the end of the token before the next one, in characters of the source."""
        return self._tokens[self.at - 1].end if self.at else 0

    def is_next(self, *phrases: str) -> bool:
        """Return whether one of the phrases comes next, without reading it."""
        here = self.at
        found = self.phrase(*phrases)
        self.at = here
        return found is not None

    def until(self, *phrases: str) -> str:
        """Read up to one of the phrases outside all brackets, or to the end; return the text."""
        begin, depth = self.at, 0
        while (token := self.next) is not None:
            if depth == 0 and self.is_next(*phrases):
                break
            depth += _OPEN.get(token.text, 0)
            self.at += 1
        if self.at == begin:
            raise Unmatched
        return self.text(begin)

    def brackets(self) -> NestedTokenCursor:
        """Read `( … )` and return a cursor over its content."""
        self.need("(")
        begin, depth = self.at, 1
        while (token := self.next) is not None:
            depth += _OPEN.get(token.text, 0)
            if depth == 0:
                break
            self.at += 1
        inside = self._tokens[begin : self.at]
        self.need(")")
        return NestedTokenCursor(inside, self.source)

    def items(self) -> Iterator[NestedTokenCursor]:
        """Yield a cursor per item of a comma-separated list; commas in brackets and types do not separate."""
        item: list[Token] = []
        depth = angles = 0
        while (token := self.next) is not None:
            self.at += 1
            if token.text == "," and depth == angles == 0:
                yield self._item(item, token)
                item = []
                continue
            depth += _OPEN.get(token.text, 0)
            if token.text == "<" and item and item[-1].text.upper() in _NESTED_TYPES:
                angles += 1
            elif token.text in (">", ">>"):
                # Not the operator of a default value.
                angles = max(0, angles - len(token.text))
            item.append(token)
        if self._tokens:
            yield self._item(item, self._tokens[-1])

    def _item(self, tokens: list[Token], behind: Token) -> NestedTokenCursor:
        item = NestedTokenCursor(tokens, self.source)
        item.stopped_at = behind
        return item

    def rest(self) -> tuple[int, int]:
        """Read all that is left and return its position. Raises Unmatched at the end."""
        if self.next is None:
            raise Unmatched
        begin = self.next.start
        self.finish()
        return begin, self._tokens[-1].end

    def names(self) -> list[str]:
        """Read `(a, b.c)`, with or without brackets, as names."""
        inside = self.brackets() if self.is_next("(") else self
        found = [dotted_name(name) for name in inside.separated(inside.name)]
        if inside is not self:
            inside.end()
        return found


def dotted_name(parts: Sequence[str]) -> str:
    """Return a name as the Python API accepts it, quoted only where necessary."""
    return ".".join(
        part if part.isidentifier() else quote_name([part]) for part in without_live(tuple(parts))
    )


def single_name(text: str) -> str | None:
    """Return the dataset that a relation's text names, None if it is more than a name."""
    cursor = NestedTokenCursor(tokenize(text) or (), text)
    try:
        inside = cursor.brackets() if cursor.words("STREAM") and cursor.is_next("(") else cursor
        name = inside.name(3)
        inside.end()
        cursor.end()
    except Unmatched:
        return None
    return dotted_name(name)


_ATTRIBUTES = (
    *("NOT NULL", "NULL", "COMMENT", "GENERATED ALWAYS AS", "GENERATED", "DEFAULT", "MASK", "PRIMARY KEY"),
    *("CONSTRAINT", "REFERENCES", "FOREIGN KEY", "COLLATE", "UNIQUE", "EXPECT"),
)
_ACTIONS: dict[str, ViolationAction] = {"DROP ROW": "drop", "FAIL UPDATE": "fail"}


def parse_columns(cursor: NestedTokenCursor) -> tuple[tuple[ColumnDefinition, ...], tuple[Expectation, ...]]:
    """Parse the columns and expectations of `( … )`. Raises Unmatched.

    Keys inform the platform's optimizer and are ignored.
    """
    columns: list[ColumnDefinition] = []
    expectations: list[Expectation] = []
    inside = cursor.brackets()
    for item in inside.items():
        try:
            if item.is_next("CONSTRAINT"):
                expectations += _parse_constraint(item)
            elif not item.phrase("PRIMARY KEY", "FOREIGN KEY", "UNIQUE", "CHECK"):
                columns.append(_parse_column(item, expectations))
        except Unmatched:
            cursor.stopped_at = item.next or item.stopped_at
            raise
    return tuple(columns), tuple(expectations)


def _parse_constraint(item: NestedTokenCursor) -> list[Expectation]:
    item.need("CONSTRAINT")
    name = item.part()
    if not item.words("EXPECT"):
        item.one_of("PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "REFERENCES", "NOT")
        return []
    condition = item.brackets()
    begin, end = condition.rest()
    action: ViolationAction = "warn"
    if item.words("ON", "VIOLATION"):
        found = item.phrase(*_ACTIONS)
        if found is None:
            raise Unmatched(*_ACTIONS)
        action = _ACTIONS[found]
    return [Expectation(name, item.source[begin:end], action)]


def _parse_column(item: NestedTokenCursor, expectations: list[Expectation]) -> ColumnDefinition:
    name = item.part()
    item.words(":")
    type_ = "" if item.next is None or item.is_next(*_ATTRIBUTES) else item.until(*_ATTRIBUTES)
    comment: str | None = None
    generated: str | None = None
    identity: str | None = None
    mask: str | None = None
    not_null = False
    while item.next is not None:
        if item.words("COMMENT"):
            comment = item.string()
        elif item.words("NOT", "NULL"):
            not_null = True
        elif item.is_next("GENERATED"):
            generated, identity = _parse_generation(item)
        elif item.words("MASK"):
            mask = item.until(*_ATTRIBUTES)
        elif item.words("DEFAULT") or item.words("COLLATE"):
            item.until(*_ATTRIBUTES)
        elif item.is_next("CONSTRAINT"):
            expectations += _parse_constraint(item)
            _skip_key(item)
        elif item.phrase("PRIMARY KEY", "FOREIGN KEY", "REFERENCES", "UNIQUE"):
            _skip_key(item)
        elif not item.words("NULL"):
            raise Unmatched
    return ColumnDefinition(name, type_, comment, not_null, generated, mask, identity)


def _parse_generation(item: NestedTokenCursor) -> tuple[str | None, str | None]:
    """Return the expression of a generated column, or the whole clause of an identity column."""
    begin = item.at
    item.need("GENERATED")
    if not item.words("BY", "DEFAULT"):
        item.need("ALWAYS")
        if item.words("AS") and item.is_next("("):
            start, end = item.brackets().rest()
            return item.source[start:end], None
        item.at = begin + 2
    item.need("AS", "IDENTITY")
    if item.is_next("("):
        item.brackets()
    return None, item.text(begin)


def _skip_key(item: NestedTokenCursor) -> None:
    if item.next is not None and not item.is_next(*_ATTRIBUTES):
        item.until("NOT NULL", "COMMENT", "MASK", "GENERATED")


def name_columns(columns: Sequence[ColumnDefinition]) -> str:
    """Return the list of columns of CREATE VIEW, with comments; empty without columns."""
    listed = [
        f"{quote_identifier(column.name)} COMMENT {quote_string(column.comment)}"
        if column.comment
        else quote_identifier(column.name)
        for column in columns
    ]
    return f"({', '.join(listed)})" if listed else ""


def format_ddl(columns: tuple[ColumnDefinition, ...]) -> str | None:
    """Format typed columns as DDL, None if a column has no type.

    >>> format_ddl((ColumnDefinition("id", "BIGINT", "it's", not_null=True),))
    "`id` BIGINT NOT NULL COMMENT 'it\\\\'s'"
    """
    if not columns or not all(column.type for column in columns):
        return None
    return ", ".join(_format_column(column) for column in columns)


def spark_ddl(text: str) -> str | None:
    """Return declared columns without keys, masks and generation, as Spark's DDL parser accepts them.

    Returns None for other text.

    >>> spark_ddl("id INT NOT NULL PRIMARY KEY, ssn STRING MASK m, CONSTRAINT pk PRIMARY KEY (id)")
    '`id` INT NOT NULL, `ssn` STRING'
    """
    columns = _parse_ddl(text)
    if columns is None:
        return None
    return format_ddl(tuple(replace(column, mask=None, generated=None, identity=None) for column in columns))


def generated_columns(text: str) -> dict[str, ColumnDefinition]:
    """Return the declared generated and identity columns by name in lower case.

    >>> text = "id INT, D INT GENERATED ALWAYS AS (id * 2), n INT GENERATED BY DEFAULT AS IDENTITY"
    >>> {name: column.generation for name, column in generated_columns(text).items()}
    {'d': 'GENERATED ALWAYS AS (id * 2)', 'n': 'GENERATED BY DEFAULT AS IDENTITY'}
    """
    return {column.name.lower(): column for column in _parse_ddl(text) or () if column.generation}


def column_masks(text: str) -> dict[str, str]:
    """Return the masks of declared columns: function and further argument columns, by column.

    >>> column_masks("id INT, ssn STRING MASK s.f USING COLUMNS (id) COMMENT 'c'")
    {'ssn': 's.f USING COLUMNS (id)'}
    """
    return {column.name: column.mask for column in _parse_ddl(text) or () if column.mask is not None}


def _parse_ddl(text: str) -> tuple[ColumnDefinition, ...] | None:
    cursor = NestedTokenCursor(tokenize(f"({text})") or (), f"({text})")
    try:
        columns, _ = parse_columns(cursor)
        cursor.end()
    except Unmatched:
        return None
    return columns


def _format_column(column: ColumnDefinition) -> str:
    text = f"{quote_identifier(column.name)} {column.type}{' NOT NULL' if column.not_null else ''}"
    text += f" {column.generation}" if column.generation else ""
    text += f" MASK {column.mask}" if column.mask is not None else ""
    if column.comment is None:
        return text
    return f"{text} COMMENT {quote_string(column.comment)}"


@dataclass(frozen=True)
class ColumnDefinition:
    """A declared column. Without a `type` it names a column of the query or gives it a comment."""

    name: str
    type: str = ""
    comment: str | None = None
    not_null: bool = False
    generated: str | None = None
    mask: str | None = None
    identity: str | None = None

    @property
    def generation(self) -> str:
        """Return the clause that generates the column's values, empty for a plain column."""
        if self.identity is not None:
            return self.identity
        return "" if self.generated is None else f"GENERATED ALWAYS AS ({self.generated})"
