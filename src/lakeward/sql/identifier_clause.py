"""`IDENTIFIER(expression)` in statements that this process runs; Spark computes those of its own statements.

Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-names-identifier-clause
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.sql.construct import Command, Edit, apply_edits
from lakeward.sql.delta_statements import is_of_delta
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched, tokenize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class IdentifierClause:
    """An IDENTIFIER clause: its position in the statement, and its expression."""

    start: int
    end: int
    expression: str
    is_literal: bool


@dataclass(frozen=True)
class ComputeIdentifiers(Command):
    """Runs a statement with the names that its IDENTIFIER clauses give."""

    clauses: list[IdentifierClause]
    text: str

    def run(self, spark: SparkSession) -> DataFrame:
        edits = [Edit(each.start, each.end, _name(spark, each.expression)) for each in self.clauses]
        return spark.sql(apply_edits(self.text, edits))


def _name(spark: SparkSession, expression: str) -> str:
    """Return the value of an expression as a quoted name."""
    row = spark.sql(f"SELECT CAST(({expression}) AS STRING)").first()
    if row is None or row[0] is None:
        raise SqlError(
            "NOT_A_CONSTANT_STRING.NULL",
            f"The expression {expression} of an IDENTIFIER clause is NULL.",
            parameters={"expr": expression, "name": "IDENTIFIER", "dataType": '"STRING"'},
        )
    cursor = TokenCursor(tokenize(row[0]) or ())
    try:
        name = cursor.name()
        cursor.end()
    except Unmatched:
        raise SqlError(
            "PARSE_SYNTAX_ERROR",
            f"Syntax error at or near '{row[0]}'.",
            parameters={"error": f"'{row[0]}'", "hint": ""},
        ) from None
    return quote_name(name)


def identifier_clauses(tokens: Sequence[Token], text: str) -> list[IdentifierClause]:
    """Return the IDENTIFIER clauses of a statement that this process has to compute.

    These are expressions that are more than a string literal; in statements of Delta's parser, all.
    """
    takes_all = is_of_delta(tokens)
    return [each for each in _clauses(tokens, text) if takes_all or not each.is_literal]


def _clauses(tokens: Sequence[Token], text: str) -> Iterator[IdentifierClause]:
    cursor = TokenCursor(tokens, text)
    for at, word in enumerate(tokens):
        cursor.at = at
        if not cursor.words("IDENTIFIER", "("):
            continue
        cursor.skip_to()
        inside, closing = cursor.read(at + 2), cursor.next
        if inside and closing is not None:
            expression = cursor.text(at + 2)
            is_literal = all(token.is_string for token in inside)
            yield IdentifierClause(word.start, closing.end, expression, is_literal)


def with_placeholders(clauses: Sequence[IdentifierClause], text: str) -> str:
    """Return the statement with a name in the place of each clause."""
    return apply_edits(text, [Edit(each.start, each.end, "x") for each in clauses])
