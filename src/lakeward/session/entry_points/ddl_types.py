"""Parse DDL strings of simple types without a JVM, for UDF decorators and schemas at module level."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|\d+|[<>(),:])")
_CLASSES = {
    "string": "StringType",
    **dict.fromkeys(("int", "integer"), "IntegerType"),
    **dict.fromkeys(("bigint", "long"), "LongType"),
    **dict.fromkeys(("smallint", "short"), "ShortType"),
    **dict.fromkeys(("tinyint", "byte"), "ByteType"),
    **dict.fromkeys(("float", "real"), "FloatType"),
    **dict.fromkeys(("double", "boolean", "binary", "date", "timestamp")),
    "timestamp_ltz": "TimestampType",
    "timestamp_ntz": "TimestampNTZType",
}
_DECIMALS = ("decimal", "dec", "numeric")
_MAX_PRECISION = 38


class _NotSimple(Exception):
    """The text needs Spark's parser."""


def parse_simple_type(text: str) -> DataType | None:
    """Return the type or schema of a DDL string; None if Spark's parser is needed.

    Supports primitive types, decimals, arrays, maps, structs and columns with `NOT NULL`. Quoted names,
    comments, collations, intervals, CHAR, VARCHAR and invalid text are left to Spark.

    >>> parse_simple_type("id bigint, tags array<string>").simpleString()
    'struct<id:bigint,tags:array<string>>'
    """
    for parse in (_Reader.type, _Reader.fields):
        with suppress(_NotSimple):
            reader = _Reader(text)
            found = parse(reader)
            if not reader.tokens:
                return found
    return None


class _Reader:
    """A recursive descent parser over the tokens of one DDL string."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if found is None:
                raise _NotSimple
            self.tokens.append(found.group(1))
            position = found.end()
        self.tokens.reverse()

    def peek(self) -> str:
        return self.tokens[-1].lower() if self.tokens else ""

    def take(self, *expected: str) -> str:
        if not self.tokens or (expected and self.peek() not in expected):
            raise _NotSimple
        return self.tokens.pop()

    def type(self) -> DataType:
        from pyspark.sql import types

        name = self.take().lower()
        if name in _DECIMALS:
            return self.decimal()
        if name == "array":
            return types.ArrayType(*self.within_brackets(self.type))
        if name == "map":
            return types.MapType(*self.within_brackets(self.type, self.type))
        if name == "struct":
            fields: DataType = self.within_brackets(self.fields)[0]
            return fields
        if name not in _CLASSES:
            raise _NotSimple
        made: DataType = getattr(types, _CLASSES[name] or f"{name.title()}Type")()
        return made

    def within_brackets(self, *parsers: Callable[[], DataType]) -> list[Any]:
        """Parse `<a, b>`, each part with one of the parsers."""
        found = []
        for sign, parse in zip("<,", parsers, strict=False):
            self.take(sign)
            found.append(parse())
        self.take(">")
        return found

    def decimal(self) -> DataType:
        from pyspark.sql.types import DecimalType

        if self.peek() != "(":
            return DecimalType(10, 0)
        self.take("(")
        numbers = [self.number()]
        if self.peek() == ",":
            self.take(",")
            numbers.append(self.number())
        self.take(")")
        precision, scale = (*numbers, 0)[:2]
        if not (scale <= precision <= _MAX_PRECISION and precision > 0):
            raise _NotSimple
        return DecimalType(precision, scale)

    def number(self) -> int:
        text = self.take()
        if not text.isdigit():
            raise _NotSimple
        return int(text)

    def fields(self) -> StructType:
        from pyspark.sql.types import StructType

        made = StructType()
        while True:
            name = self.take()
            if not name[0].isalpha() and name[0] != "_":
                raise _NotSimple
            if self.peek() == ":":
                self.take(":")
            of_type = self.type()
            nullable = self.peek() != "not"
            if not nullable:
                self.take("not")
                self.take("null")
            made.add(name, of_type, nullable)
            if self.peek() != ",":
                return made
            self.take(",")
