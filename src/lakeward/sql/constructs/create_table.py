"""CREATE TABLE with clauses that Spark does not have: keys, a row filter, masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name
from lakeward.sql.construct import BEGINNING, Command, Construct, Edit, Refusal, apply_edits, in_area
from lakeward.sql.constructs.key_clauses import Key, declares_check, implied_not_null, key_clauses
from lakeward.sql.constructs.keys import store_keys
from lakeward.sql.constructs.policies import (
    PolicyFunction,
    SetMask,
    SetRowFilter,
    mask_clauses,
    row_filter_clause,
)
from lakeward.sql.token_cursor import TokenCursor, Unmatched, tokenize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class CreateTable(Command):
    """Creates a table, then its keys and policies; a new table is dropped again if one of them is refused.

    Attributes:
        table: Its name.
        text: The statement without the clauses, which blanks replace; columns of a primary key are NOT NULL.
        replace: Whether it is CREATE OR REPLACE, or REPLACE.
        if_not_exists: Whether an existing table stays.
        row_filter: The row filter.
        masks: The masks, by column.
        keys: Primary, foreign and unique keys.
    """

    table: list[str]
    text: str
    replace: bool
    if_not_exists: bool
    row_filter: PolicyFunction | None
    masks: dict[str, PolicyFunction]
    keys: list[Key]

    def run(self, spark: SparkSession) -> None:
        name = quote_name(self.table)
        existed = spark.catalog.tableExists(name)
        if existed and self.if_not_exists:
            return
        spark.sql(self.text)
        try:
            self._add_clauses(spark)
        except Exception:
            if not existed:
                spark.sql(f"DROP TABLE {name} PURGE")
            raise

    def _add_clauses(self, spark: SparkSession) -> None:
        if self.keys or self.replace:
            store_keys(spark, self.table, self.keys)
        if self.row_filter is not None:
            SetRowFilter(self.table, self.row_filter).run(spark)
        for column, mask in self.masks.items():
            SetMask(self.table, column, mask).run(spark)


def _create_table(cursor: TokenCursor) -> CreateTable | Refusal:
    begin = cursor.at
    replace = cursor.one_of("CREATE", "REPLACE") == "REPLACE" or cursor.words("OR", "REPLACE")
    cursor.need("TABLE")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    table = cursor.name(3)
    if any("/" in part for part in table):
        raise Unmatched
    cursor.finish()
    text = cursor.text(begin)
    tokens = tokenize(text) or ()
    if declares_check(tokens):
        hint = f": ALTER TABLE {quote_name(table)} ADD CONSTRAINT adds it to the new table"
        return Refusal("PARSE_SYNTAX_ERROR", f"'CHECK'{hint}", "42601", {"error": "'CHECK'", "hint": hint})
    masks, mask_tokens = mask_clauses(tokens, text)
    row_filter, filter_tokens = row_filter_clause(tokens, text)
    keys, key_tokens = key_clauses(tokens, text)
    removed = {token.start: token for token in (*key_tokens, *mask_tokens, *filter_tokens)}
    if not removed:
        raise Unmatched
    edits = [Edit(t.start, t.end, " " * len(t.text)) for _, t in sorted(removed.items())]
    edits = sorted([*edits, *implied_not_null(tokens, keys)])
    return CreateTable(
        table=table,
        text=apply_edits(text, edits),
        replace=replace,
        if_not_exists=if_not_exists,
        row_filter=row_filter,
        masks=masks,
        keys=keys,
    )


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="PRIMARY KEY, FOREIGN KEY, UNIQUE, MASK, ROW FILTER in CREATE TABLE",
        example="CREATE TABLE t (id INT PRIMARY KEY, ssn STRING MASK hidden) WITH ROW FILTER mine ON (id)",
        note="keys are stored for the information schema; a refused policy drops the new table again; "
        "CHECK is a syntax error, as on the platform",
        starts=("CREATE", "REPLACE"),
        statement=_create_table,
        trigger=BEGINNING + r"(?:create|replace)\s.*\btable\b.*\bcheck\s*\(",
        test="tests/sql/test_policies.py",
    ),
)
