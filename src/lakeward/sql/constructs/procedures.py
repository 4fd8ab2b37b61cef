"""Stored procedures in SQL: CREATE, DROP, DESCRIBE, SHOW and CALL."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_identifier, quote_name
from lakeward.spark_internals import java_session
from lakeward.sql.construct import (
    BEGINNING,
    Command,
    Construct,
    Refusal,
    RewriteResult,
    Rows,
    in_area,
    syntax_error,
)
from lakeward.sql.constructs.catalogs import schema_and_pattern
from lakeward.sql.constructs.transactions import AtomicBlock
from lakeward.sql.procedures import (
    KIND,
    Mode,
    Parameter,
    Procedure,
    expand_calls,
    find_procedure,
    parse_call,
    procedures_of,
    require_procedure,
    store_procedure,
)
from lakeward.sql.script import begins_block, without_atomic
from lakeward.sql.session_context import current_context, matches_pattern
from lakeward.sql.token_cursor import TokenCursor, Unmatched
from lakeward.sql.transactions import has_transaction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MODES: tuple[Mode, ...] = ("IN", "OUT", "INOUT")
_MAX_LEVELS = 64
_levels = threading.local()


@dataclass(frozen=True)
class CreateProcedure(Command):
    """Stores a procedure; its body is parsed, and its names are resolved when it is called."""

    name: list[str]
    procedure: Procedure
    or_replace: bool
    if_not_exists: bool

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        full = context.qualify(self.name)
        context.require_changeable_schema(full[0], full[1], "User does not have CREATE FUNCTION on")
        names = [each.name.lower() for each in self.procedure.parameters]
        if len(set(names)) < len(names):
            twice = ", ".join(sorted({quote_identifier(each) for each in names if names.count(each) > 1}))
            raise SqlError(
                "DUPLICATE_ROUTINE_PARAMETER_NAMES",
                f"Found duplicate parameters of {quote_name(full)}: {twice}.",
                parameters={"routineName": quote_name(full), "names": twice},
            )
        existing = "PROCEDURE" if find_procedure(context, full) is not None else None
        if existing is None and spark.catalog.functionExists(quote_name(full)):
            existing = "FUNCTION"
        if existing == "PROCEDURE" and self.if_not_exists:
            return
        if existing is not None and not (existing == "PROCEDURE" and self.or_replace):
            raise SqlError(
                "ROUTINE_ALREADY_EXISTS",
                f"Cannot create the PROCEDURE {quote_name(full)} because a {existing} of that name exists.",
                parameters={
                    "newRoutineType": "PROCEDURE",
                    "routineName": quote_name(full),
                    "existingRoutineType": existing,
                },
            )
        body = self.procedure.body
        # Spark takes a label within a block alone.
        text = body if body[:5].upper() == "BEGIN" else f"BEGIN {body}; END"
        text = without_atomic(text) if self.procedure.is_atomic else text
        java_session(spark).sessionState().sqlParser().parsePlan(text)
        created = round(time.time() * 1_000_000)
        store_procedure(context, full, replace(self.procedure, owner=context.settings.user, created=created))


def _create_procedure(cursor: TokenCursor) -> RewriteResult:
    cursor.need("CREATE")
    or_replace = cursor.words("OR", "REPLACE")
    cursor.need("PROCEDURE")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    if or_replace and if_not_exists:
        condition = "INVALID_SQL_SYNTAX.CREATE_ROUTINE_WITH_IF_NOT_EXISTS_AND_REPLACE"
        return Refusal(condition, "OR REPLACE and IF NOT EXISTS exclude each other.", "42000", {})
    name = cursor.name(3)
    cursor.need("(")
    parameters: list[Parameter] = []
    while not cursor.words(")"):
        if parameters:
            cursor.need(",")
        parameters.append(_parameter(cursor))
    comment, security = None, "INVOKER"
    while not cursor.words("AS"):
        if cursor.words("COMMENT"):
            comment = cursor.string()
        elif cursor.words("SQL", "SECURITY"):
            security = cursor.one_of("INVOKER", "DEFINER")
        elif cursor.words("DEFAULT", "COLLATION"):
            cursor.part()
        elif not (
            cursor.words("LANGUAGE", "SQL")
            or cursor.words("NOT", "DETERMINISTIC")
            or cursor.words("MODIFIES", "SQL", "DATA")
        ):
            return syntax_error(cursor, "CREATE PROCEDURE")
    begin = cursor.at
    if not begins_block(cursor):
        return syntax_error(cursor, "CREATE PROCEDURE")
    cursor.finish()
    procedure = Procedure(parameters, cursor.text(begin), comment, security)
    return CreateProcedure(name, procedure, or_replace, if_not_exists)


def _parameter(cursor: TokenCursor) -> Parameter:
    ahead = cursor.ahead(3)
    # A parameter may have the name of a mode: `out INT`.
    has_mode = len(ahead) == 3 and ahead[0].word in _MODES and ahead[2].text not in (",", ")", "(", "<")
    mode: Mode = next((each for each in _MODES if has_mode and cursor.words(each)), "IN")
    name = cursor.part()
    data_type = _type(cursor)
    default = comment = None
    if cursor.words("DEFAULT"):
        begin = cursor.at
        cursor.skip_to("COMMENT", ",")
        default = cursor.text(begin)
    if cursor.words("COMMENT"):
        comment = cursor.string()
    # Without a default a result has no value before the body assigns one.
    return Parameter(name, mode, data_type, "NULL" if mode == "OUT" and default is None else default, comment)


def _type(cursor: TokenCursor) -> str:
    begin, depth = cursor.at, 0
    while cursor.next is not None and (depth or cursor.next.word not in ("DEFAULT", "COMMENT", ",", ")")):
        depth += cursor.next.text.count("<") - cursor.next.text.count(">")
        cursor.skip()
    if cursor.at == begin:
        raise Unmatched
    return cursor.text(begin)


@dataclass(frozen=True)
class CallProcedures(Command):
    """Runs a CALL, or a script with calls, with the bodies of the procedures in their places."""

    text: str
    is_script: bool

    def run(self, spark: SparkSession) -> DataFrame:
        context = current_context(spark)
        is_part = has_transaction(spark)
        called: list[Procedure] = []

        def find(name: Sequence[str]) -> tuple[tuple[str, ...], Procedure]:
            full, procedure = require_procedure(context, name)
            called.append(procedure)
            return full, procedure

        text = expand_calls(self.text, find, in_transaction=is_part)
        # The first procedure of a CALL is the one that it names.
        is_atomic_call = not self.is_script and called[0].is_atomic
        if is_part or is_atomic_call:
            text = without_atomic(text)
        level = getattr(_levels, "level", 0) + 1
        if level > _MAX_LEVELS:
            raise SqlError(
                "UNSUPPORTED_SQL",
                f"Procedures call each other in more than {_MAX_LEVELS} levels.",
                sql_state="54000",
            )
        _levels.level = level
        try:
            return AtomicBlock(text).run(spark) if is_atomic_call else spark.sql(text)
        finally:
            _levels.level = level - 1


def _call(cursor: TokenCursor) -> CallProcedures:
    parse_call(cursor)
    return CallProcedures(cursor.text(0), is_script=False)


@dataclass(frozen=True)
class DropProcedure(Command):
    """Drops a procedure."""

    name: list[str]
    if_exists: bool

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        full = context.qualify(self.name)
        if self.if_exists and find_procedure(context, full) is None:
            return
        require_procedure(context, self.name)
        context.metadata_file(KIND, full).unlink(missing_ok=True)


def _drop_procedure(cursor: TokenCursor) -> DropProcedure:
    cursor.need("DROP", "PROCEDURE")
    if_exists = cursor.words("IF", "EXISTS")
    name = cursor.name(3)
    cursor.end()
    return DropProcedure(name, if_exists)


@dataclass(frozen=True)
class DescribeProcedure(Command):
    """Shows a procedure in lines of a label and a value."""

    name: list[str]
    extended: bool

    def run(self, spark: SparkSession) -> Rows:
        full, procedure = require_procedure(current_context(spark), self.name)
        comments = self.extended
        parameters = [
            f"{each.mode} {each.name} {each.type}"
            + (f" '{each.comment}'" if comments and each.comment is not None else "")
            for each in procedure.parameters
        ]
        lines = [("Procedure", ".".join(full)), ("Parameters", parameters[0] if parameters else "()")]
        lines += [("", each) for each in parameters[1:]]
        if self.extended:
            created = datetime.fromtimestamp(procedure.created / 1_000_000, timezone.utc)
            lines += [("Comment", procedure.comment)] if procedure.comment is not None else []
            lines += [
                ("Deterministic", "false"),
                ("Data Access", "MODIFIES SQL DATA"),
                ("Security Type", procedure.security),
                ("Owner", procedure.owner),
                ("Create Time", created.strftime("%a %b %d %H:%M:%S UTC %Y")),
                ("Body", procedure.body),
            ]
        rows = [[f"{label + ':' if label else '':<15}{value}"] for label, value in lines]
        return Rows("procedure_desc STRING", rows)


def _describe_procedure(cursor: TokenCursor) -> DescribeProcedure:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("PROCEDURE")
    extended = cursor.words("EXTENDED")
    name = cursor.name(3)
    cursor.end()
    return DescribeProcedure(name, extended)


@dataclass(frozen=True)
class ShowProcedures(Command):
    """Lists the procedures of a schema, by default the current one."""

    schema: list[str] | None
    like: str | None

    def run(self, spark: SparkSession) -> DataFrame:
        context = current_context(spark)
        catalog, schema = context.listed_schema(self.schema)
        names = [name[-1] for name, _ in procedures_of(context, catalog, schema)]
        columns = "catalog STRING, namespace ARRAY<STRING>, schema STRING, procedure_name STRING"
        rows = [(catalog, [schema], schema, name) for name in names if matches_pattern(self.like, name)]
        return spark.createDataFrame(rows, columns)


def _show_procedures(cursor: TokenCursor) -> ShowProcedures:
    cursor.need("SHOW", "PROCEDURES")
    return ShowProcedures(*schema_and_pattern(cursor))


_TEST = "tests/sql/test_procedures.py"
CONSTRUCTS = in_area(
    "Queries and scripts",
    Construct(
        name="CREATE PROCEDURE",
        example="CREATE OR REPLACE PROCEDURE p(IN x INT, OUT y INT) LANGUAGE SQL AS BEGIN SET y = x + 1; END",
        note="stored with the schema; SQL SECURITY has no effect",
        statement=_create_procedure,
        test=_TEST,
    ),
    Construct(
        name="CALL",
        example="CALL main.default.p(x => 1, y => result)",
        note="runs as a script; a procedure with parameters OUT or INOUT cannot call itself",
        starts=("CALL",),
        statement=_call,
        trigger=BEGINNING + r"call\b",
        test=_TEST,
    ),
    Construct(
        name="DROP PROCEDURE",
        example="DROP PROCEDURE IF EXISTS main.default.p",
        statement=_drop_procedure,
        test=_TEST,
    ),
    Construct(
        name="DESCRIBE PROCEDURE",
        example="DESCRIBE PROCEDURE EXTENDED main.default.p",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_procedure,
        trigger=BEGINNING + r"desc(?:ribe)?\s+procedure\b",
        test=_TEST,
    ),
    Construct(
        name="SHOW PROCEDURES",
        example="SHOW PROCEDURES IN main.default",
        statement=_show_procedures,
        trigger=BEGINNING + r"show\s+procedures\b",
        test=_TEST,
    ),
)
