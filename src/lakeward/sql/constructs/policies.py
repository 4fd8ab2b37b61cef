"""Row filters and column masks: SQL functions that decide what readers see of a table.

They are stored in the table's metadata; `PolicyRules.java` applies them where the table is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.dataset_properties import CHECK_PREFIX
from lakeward.errors import SqlError
from lakeward.patching import original
from lakeward.quoting import quote_identifier, quote_name
from lakeward.sql.construct import Command, Construct, in_area
from lakeward.sql.constructs.column_list import column_list_items
from lakeward.sql.session_context import current_context, table_properties
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_KINDS = ("TABLE", "STREAMING TABLE", "MATERIALIZED VIEW")
# The prefixes of the platform's conditions.
_ROWS, _COLUMNS = "ROW_LEVEL_SECURITY", "COLUMN_MASKS"


@dataclass(frozen=True)
class Argument:
    """An argument of a policy's function: a column, or the text of a literal."""

    column: str | None = None
    literal: str | None = None


@dataclass(frozen=True)
class PolicyFunction:
    """The function of a row filter or mask, with its arguments."""

    name: list[str]
    arguments: list[Argument] = field(default_factory=list)

    def columns(self) -> list[str]:
        """Return the columns among the arguments."""
        return [argument.column for argument in self.arguments if argument.column is not None]


@dataclass(frozen=True)
class SetRowFilter(Command):
    """Limits readers to the rows for which the function is true."""

    table: list[str]
    function: PolicyFunction

    def run(self, spark: SparkSession) -> None:
        schema = _require_policy_support(spark, self.table, _ROWS)
        _require_distinct(self.function.columns(), f"{_ROWS}_DUPLICATE_COLUMN_NAME", self.table)
        policy = _policy(spark, schema, self.function)
        spark.createDataFrame([], schema).where(policy["expression"])
        _update(spark, self.table, row_filter=policy)


@dataclass(frozen=True)
class DropRowFilter(Command):
    """Removes the row filter, if there is one."""

    table: list[str]

    def run(self, spark: SparkSession) -> None:
        _stored_table(spark, self.table)
        _update(spark, self.table, row_filter=None)


@dataclass(frozen=True)
class SetMask(Command):
    """Shows readers the function's value instead of the column's."""

    table: list[str]
    column: str
    function: PolicyFunction

    def run(self, spark: SparkSession) -> None:
        schema = _require_policy_support(spark, self.table, _COLUMNS)
        name = _column(spark, schema, self.column)
        others = self.function.columns()
        if name.lower() in (other.lower() for other in others):
            condition = f"{_COLUMNS}_USING_COLUMN_NAME_SAME_AS_TARGET_COLUMN"
            raise _policy_error(condition, self.table, f"USING COLUMNS contains {name} itself")
        _require_distinct(others, f"{_COLUMNS}_DUPLICATE_USING_COLUMN_NAME", self.table)
        arguments = [Argument(column=name), *self.function.arguments]
        policy = _policy(spark, schema, PolicyFunction(self.function.name, arguments))
        policy["expression"] = f"CAST({policy['expression']} AS {schema[name].dataType.simpleString()})"
        spark.createDataFrame([], schema).selectExpr(policy["expression"])
        _update(spark, self.table, masks={**_masks(spark, self.table), name: policy})


@dataclass(frozen=True)
class DropMask(Command):
    """Removes the column's mask, if there is one."""

    table: list[str]
    column: str

    def run(self, spark: SparkSession) -> None:
        name = _column(spark, _stored_table(spark, self.table).schema, self.column)
        masks = {column: mask for column, mask in _masks(spark, self.table).items() if column != name}
        _update(spark, self.table, masks=masks)


def _stored_table(spark: SparkSession, table: list[str]) -> DataFrame:
    """Return the table of the catalog, even while a pipeline resolves names to its datasets."""
    frame: DataFrame = original(type(spark), "table")(spark, quote_name(table))
    return frame


def _require_policy_support(spark: SparkSession, table: list[str], kind: str) -> StructType:
    """Return the columns of a table that can have policies; raises SqlError for any other."""
    frame = _stored_table(spark, table)
    properties = _table_properties(spark, table)
    if properties is None:
        raise _policy_error(f"{kind}_FEATURE_NOT_SUPPORTED.VIEWS", table, "it is a view")
    if any(key.startswith(CHECK_PREFIX) for key in properties):
        condition = f"{kind}_FEATURE_NOT_SUPPORTED.CHECK_CONSTRAINT"
        raise _policy_error(condition, table, "it has CHECK constraints")
    return frame.schema


def _table_properties(spark: SparkSession, table: list[str]) -> Mapping[str, str] | None:
    """Return the table's properties; None for a view."""
    catalog, schema, name = current_context(spark).qualify(table)
    views = spark.sql(f"SHOW VIEWS IN {quote_name([catalog, schema])}").collect()
    if name in (row["viewName"].lower() for row in views if not row["isTemporary"]):
        return None
    return table_properties(spark, quote_name([catalog, schema, name]))


def _policy(spark: SparkSession, schema: StructType, function: PolicyFunction) -> dict[str, Any]:
    """Return the policy as the metadata stores it."""
    name = current_context(spark).qualify(function.name)
    columns = {column: _column(spark, schema, column) for column in function.columns()}
    arguments = [columns[a.column] if a.column is not None else a.literal for a in function.arguments]
    texts = [
        quote_identifier(columns[a.column]) if a.column is not None else str(a.literal)
        for a in function.arguments
    ]
    return {
        "function": list(name),
        "columns": list(columns.values()),
        "arguments": arguments,
        "expression": f"{quote_name(name)}({', '.join(texts)})",
    }


def _column(spark: SparkSession, schema: StructType, column: str) -> str:
    """Return the column's name as the table spells it; raises Spark's own error for an unknown one."""
    names = {name.lower(): name for name in schema.names}
    if column.lower() not in names:
        spark.createDataFrame([], schema).select(quote_identifier(column))
    return names[column.lower()]


def _require_distinct(columns: Sequence[str], condition: str, table: list[str]) -> None:
    if len({column.lower() for column in columns}) != len(columns):
        raise _policy_error(condition, table, "a column occurs twice among the arguments")


def _policy_error(condition: str, table: list[str], reason: str) -> SqlError:
    state = "0A000" if "_FEATURE_" in condition else "42734"
    message = f"The policy of {'.'.join(table)} cannot be set: {reason}."
    return SqlError(condition, message, sql_state=state)


def _masks(spark: SparkSession, table: list[str]) -> dict[str, Any]:
    context = current_context(spark)
    masks: dict[str, Any] = context.metadata("TABLE", context.qualify(table)).get("masks", {})
    return masks


def _update(spark: SparkSession, table: list[str], **values: Any) -> None:
    context = current_context(spark)
    context.update_metadata("TABLE", context.qualify(table), **values)


def _table(cursor: TokenCursor) -> list[str]:
    cursor.need("ALTER")
    if cursor.phrase(*_KINDS) is None:
        raise Unmatched
    return cursor.name(3)


def _function(cursor: TokenCursor, *before_arguments: str, required: bool) -> PolicyFunction:
    """Parse `f ON (a, 'x')`; `before_arguments` are the words before the parenthesis."""
    name = cursor.name(3)
    if required:
        cursor.need(*before_arguments)
    elif not cursor.words(*before_arguments):
        return PolicyFunction(name)
    return PolicyFunction(name, read_arguments(cursor))


def read_arguments(cursor: TokenCursor) -> list[Argument]:
    """Read the arguments of a policy's function in parentheses; raises Unmatched."""
    arguments: list[Argument] = []
    cursor.need("(")
    while not cursor.words(")"):
        if arguments:
            cursor.need(",")
        arguments.append(_argument(cursor))
    return arguments


def _argument(cursor: TokenCursor) -> Argument:
    token = cursor.next
    if token is not None and token.is_name and token.word not in ("TRUE", "FALSE", "NULL"):
        return Argument(column=cursor.part())
    begin = cursor.at
    while cursor.next is not None and cursor.next.text not in (",", ")"):
        cursor.at += 1
    if cursor.at == begin:
        raise Unmatched
    return Argument(literal=cursor.text(begin))


def _alter_row_filter(cursor: TokenCursor) -> SetRowFilter | DropRowFilter:
    """Parse ALTER TABLE t SET ROW FILTER f ON (…), ALTER TABLE t DROP ROW FILTER."""
    table = _table(cursor)
    if cursor.words("DROP", "ROW", "FILTER"):
        cursor.end()
        return DropRowFilter(table)
    cursor.need("SET", "ROW", "FILTER")
    function = _function(cursor, "ON", required=True)
    cursor.end()
    return SetRowFilter(table, function)


def _alter_mask(cursor: TokenCursor) -> SetMask | DropMask:
    """Parse ALTER TABLE t ALTER COLUMN c SET MASK f USING COLUMNS (…), … DROP MASK."""
    table = _table(cursor)
    cursor.one_of("ALTER", "CHANGE")
    cursor.words("COLUMN")
    column = cursor.part()
    if cursor.words("DROP", "MASK"):
        cursor.end()
        return DropMask(table, column)
    cursor.need("SET", "MASK")
    function = _function(cursor, "USING", "COLUMNS", required=False)
    cursor.end()
    return SetMask(table, column, function)


def mask_clauses(tokens: Sequence[Token], text: str) -> tuple[dict[str, PolicyFunction], list[Token]]:
    """Return the masks of CREATE TABLE by column, and the tokens that declare them.

    A clause reads `ssn STRING MASK f USING COLUMNS (a)`.
    """
    masks: dict[str, PolicyFunction] = {}
    removed: list[Token] = []
    for item in column_list_items(tokens):
        at = next((i for i in range(2, len(item) - 1) if _begins_mask(item, i)), None)
        if at is None:
            continue
        cursor = TokenCursor(item, text)
        column = cursor.part()
        cursor.at = at + 1
        masks[column] = _function(cursor, "USING", "COLUMNS", required=False)
        removed += item[at : cursor.at]
    return masks, removed


def _begins_mask(item: Sequence[Token], at: int) -> bool:
    return item[at].word == "MASK" and item[at + 1].is_name and item[at - 1].text not in (",", "<")


def row_filter_clause(tokens: Sequence[Token], text: str) -> tuple[PolicyFunction | None, list[Token]]:
    """Return the row filter of CREATE TABLE (`[WITH] ROW FILTER f ON (…)`), and its tokens."""
    cursor = TokenCursor(tokens, text)
    while cursor.skip_to("ROW", "AS") == "ROW":
        at = cursor.at
        if cursor.words("ROW", "FILTER"):
            function = _function(cursor, "ON", required=True)
            begin = at - 1 if tokens[at - 1].word == "WITH" else at
            return function, list(tokens[begin : cursor.at])
        cursor.skip()
    return None, []


CONSTRUCTS = in_area(
    "Governance",
    Construct(
        name="SET ROW FILTER, DROP ROW FILTER",
        example="ALTER TABLE t SET ROW FILTER main.default.in_my_region ON (region)",
        note=(
            "applies to every read by name through lakeward, in SQL, DataFrames, views and streams; writes "
            "see the unfiltered table. Not a security boundary: anyone who reads the folder reads the table"
        ),
        statement=_alter_row_filter,
        test="tests/sql/test_policies.py",
    ),
    Construct(
        name="SET MASK, DROP MASK",
        example="ALTER TABLE t ALTER COLUMN ssn SET MASK main.default.hidden USING COLUMNS (region)",
        note="as row filters; the mask's value is cast to the column's type",
        statement=_alter_mask,
        test="tests/sql/test_policies.py",
    ),
)
