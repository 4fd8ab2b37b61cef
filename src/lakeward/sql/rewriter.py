"""Rewrite SQL that Spark does not parse as Databricks does, for the session's parser.

`rewrite` is pure: no Spark, no files. The JVM calls it through the object that `connect` registers;
answers are JSON.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from lakeward.errors import LakewardError, SqlError
from lakeward.spark_internals import active_context, java_frame, java_gateway
from lakeward.sql.construct import (
    Command,
    Construct,
    Edit,
    Edits,
    RewriteResult,
    Rows,
    apply_edits,
    run_command,
)
from lakeward.sql.constructs import (
    catalogs,
    clone,
    copy_into,
    create_table,
    event_log,  # noqa: F401  # registers a function
    expressions,
    functions,
    governance,
    inserts,
    keys,
    listings,
    materialized_views,
    merge,
    metric_views,
    not_null,
    partitions,
    pipeline_statements,
    platform_clauses,
    policies,
    python_functions,
    scripting,
    table_descriptions,
    table_json,
    tables,
    temporary_tables,
    time_travel,
    transactions,
    volumes,
)
from lakeward.sql.identifier_clause import (
    ComputeIdentifiers,
    identifier_clauses,
    is_of_delta,
    with_placeholders,
)
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched, tokenize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Statements are tried in this order; docs/sql.md has one section per run of equal areas.
CONSTRUCTS: tuple[Construct, ...] = (
    *catalogs.CONSTRUCTS,
    *listings.CONSTRUCTS,
    *volumes.CONSTRUCTS,
    *expressions.CONSTRUCTS,
    *transactions.CONSTRUCTS,
    *scripting.CONSTRUCTS,
    *tables.CONSTRUCTS,
    *not_null.CONSTRUCTS,
    *partitions.CONSTRUCTS,
    *clone.CONSTRUCTS,
    *time_travel.CONSTRUCTS,
    *table_descriptions.CONSTRUCTS,
    *table_json.CONSTRUCTS,
    *temporary_tables.CONSTRUCTS,
    *pipeline_statements.CONSTRUCTS,
    *materialized_views.CONSTRUCTS,
    *metric_views.CONSTRUCTS,
    *create_table.CONSTRUCTS,
    *keys.CONSTRUCTS,
    *inserts.CONSTRUCTS,
    *merge.CONSTRUCTS,
    *copy_into.CONSTRUCTS,
    *functions.CONSTRUCTS,
    *python_functions.CONSTRUCTS,
    *governance.CONSTRUCTS,
    *platform_clauses.CONSTRUCTS,
    *policies.CONSTRUCTS,
)


def triggers() -> str:
    """Return the pattern of all texts that Spark parses with a different meaning."""
    return "|".join(f"(?:{c.trigger})" for c in CONSTRUCTS if c.trigger)


def rewrite(text: str, *, is_expression: bool = False) -> RewriteResult | None:
    """Rewrite a text that Spark does not parse, or that matches a trigger; None leaves it to Spark.

    Never raises: a text that cannot be tokenized is left to Spark, which reports the error.

    >>> rewrite("select 1"), rewrite("select 'unclosed")
    (None, None)
    """
    return _analyze(text, is_expression=is_expression)[0]


def constructs_in(text: str, tokens: tuple[Token, ...] | None = None) -> tuple[Construct, ...]:
    """Return the constructs that a statement uses; `tokens` are those of `text` where they are known."""
    return _analyze(text, is_expression=False, tokens=tokens)[1]


def fill_parameters(text: str, values: Mapping[str, str] | Sequence[str]) -> str:
    """Replace parameter markers with SQL literals; a marker without a value stays.

    For statements that run here: Spark fills its own.

    >>> fill_parameters("USE CATALOG IDENTIFIER(:c) -- :c", {"c": "'main'"})
    "USE CATALOG IDENTIFIER('main') -- :c"
    >>> fill_parameters("LIST ? LIMIT ?", ["'/a'"])
    "LIST '/a' LIMIT ?"
    """
    tokens = tokenize(text) or ()
    edits: list[Edit] = []
    positional = list(values) if not isinstance(values, Mapping) else []
    for i, token in enumerate(tokens):
        if token.text == "?" and positional:
            edits.append(Edit(token.start, token.end, positional.pop(0)))
        if token.text != ":" or i + 1 == len(tokens) or _follows_expression(tokens, i):
            continue
        name = tokens[i + 1]
        if isinstance(values, Mapping) and name.text in values and name.start == token.end:
            edits.append(Edit(token.start, name.end, values[name.text]))
    return apply_edits(text, edits)


def _follows_expression(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the colon touches the end of an expression, as in the path `column:a`."""
    if at == 0 or tokens[at - 1].end != tokens[at].start:
        return False
    before = tokens[at - 1]
    return before.is_name or before.is_quoted or before.text[-1].isalnum() or before.text in (")", "]")


def _analyze(
    text: str, *, is_expression: bool, tokens: tuple[Token, ...] | None = None
) -> tuple[RewriteResult | None, tuple[Construct, ...]]:
    tokens = tokenize(text) if tokens is None else tokens
    if not tokens:
        return None, ()
    if not is_expression:
        computed = identifier_clauses(tokens, text)
        if computed:
            result, constructs = _analyze(with_placeholders(computed, text), is_expression=False)
            if isinstance(result, Command) or is_of_delta(tokens):
                return ComputeIdentifiers(computed, text), constructs
        for construct in _statements().get(tokens[0].word, ()):
            result = _try_statement(construct, tokens, text)
            if result is not None:
                return result, (construct,)
    edits: list[Edit] = []
    used: list[Construct] = []
    for construct in _with_edits():
        assert construct.edits is not None
        found = construct.edits(tokens)
        edits += found
        used += [construct] if found else []
    return (Edits(_sorted_edits(edits)) if edits else None), tuple(used)


def _try_statement(construct: Construct, tokens: tuple[Token, ...], text: str) -> RewriteResult | None:
    assert construct.statement is not None
    try:
        return construct.statement(TokenCursor(tokens, text))
    except Unmatched:
        return None


def _sorted_edits(edits: list[Edit]) -> tuple[Edit, ...]:
    """Sort the edits; of two that overlap, the first one wins."""
    out: list[Edit] = []
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if not out or edit.start >= out[-1].end:
            out.append(edit)
    return tuple(out)


@cache
def _statements() -> dict[str, tuple[Construct, ...]]:
    by_word: dict[str, tuple[Construct, ...]] = {}
    for construct in CONSTRUCTS:
        for word in construct.starts:
            by_word[word] = (*by_word.get(word, ()), construct)
    return by_word


@cache
def _with_edits() -> tuple[Construct, ...]:
    return tuple(c for c in CONSTRUCTS if c.edits is not None)


_NAME = "_lakeward_sql"
_SQL_STATE = re.compile(r"\s*SQLSTATE: (\w{5})")
_log = logging.getLogger(__name__)


def connect(spark: SparkSession) -> None:
    """Register this process as the one that the JVM calls, once per JVM.

    For a JVM shared with another process that process answers.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    from lakeward.session import INFORMATION_SCHEMA, shared_gateway
    from lakeward.sql import information_schema  # noqa: F401  # registers the command that the JVM sends

    if shared_gateway() is not None:
        return
    gateway: Any = java_gateway(spark)
    # Not getattr: py4j resolves unknown attributes of a gateway as names in the JVM.
    if _NAME in vars(gateway):
        return
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]  # PySpark types it not
    vars(gateway)[_NAME] = rewriter = _Rewriter()
    gateway.jvm.lakeward.PythonSqlBridge.use(rewriter, triggers())
    gateway.jvm.lakeward.InformationSchema.use(json.dumps(INFORMATION_SCHEMA))


class _Rewriter:
    """The object that the JVM calls. Raises nothing: an internal error must not hide the user's own."""

    def rewrite(self, text: str, is_expression: bool) -> str | None:
        try:
            result = rewrite(text, is_expression=is_expression)
            return None if result is None else as_json(result)
        except Exception:  # noqa: BLE001  # an internal error must not stop statements that Spark can run
            _log.exception("SQL rewriting failed; falling back to Spark's parser.")
            return None

    def fill(self, text: str, parameters: str) -> str:
        return fill_parameters(text, json.loads(parameters))

    def run(self, command: str, session: Any) -> Any:
        request = json.loads(command)
        try:
            result = run_command(_session(session), request["name"], request["arguments"])
        except SqlError as error:
            return _error(error.condition, error.text, error.sql_state, error.parameters)
        except LakewardError as error:
            return _error(error.condition, error.text, None)
        except Exception as error:  # noqa: BLE001  # the caller sees any error as the error of the statement
            cause = _java_exception(error)
            return cause if cause is not None else _python_error(error)
        return _result(result)

    class Java:
        """Names the interface for py4j."""

        implements: ClassVar[list[str]] = ["lakeward.PythonSqlBridge$Rewriter"]


def as_json(result: RewriteResult) -> str:
    """Return the result for the JVM; positions count characters in both languages."""
    if isinstance(result, Command):
        return json.dumps({"command": result.as_json()})
    if isinstance(result, Edits):
        return json.dumps({"edits": [[e.start, e.end, e.text] for e in result.edits]})
    return _error(result.condition, result.message, result.sql_state, result.parameters)


def _result(result: Any) -> Any:
    """Return a command's result for the JVM: JSON, or a Dataset."""
    from pyspark.sql import DataFrame

    if result is None:
        return "{}"
    if isinstance(result, Rows):
        return json.dumps({"schema": result.schema, "rows": [list(row) for row in result.rows]})
    if isinstance(result, DataFrame):
        return java_frame(result)
    return json.dumps(result) if isinstance(result, dict) else result


def _error(
    condition: str, message: str, sql_state: str | None, parameters: Mapping[str, str] | None = None
) -> str:
    """Return an error for the JVM, which raises it as an AnalysisException.

    Args:
        condition: The condition's name.
        message: The text for a condition that Spark does not know.
        sql_state: Its SQLSTATE; None for the JVM's default.
        parameters: The values of Spark's own message, for a condition that Spark knows.
    """
    error = {
        "condition": condition,
        "message": message,
        "sqlState": sql_state,
        "parameters": parameters and dict(parameters),
    }
    return json.dumps({"error": error})


def _python_error(error: BaseException) -> str:
    """Return an error without a JVM exception; Delta's Python API raises some with the text alone.

    >>> _python_error(ValueError("[DELTA_X.Y] A commit won. SQLSTATE: 2D521"))  # doctest: +ELLIPSIS
    '{"error": {"condition": "DELTA_X.Y", "message": "A commit won.", "sqlState": "2D521", ...'
    >>> _python_error(ValueError("what?"))  # doctest: +ELLIPSIS
    '{"error": {"condition": "INTERNAL_ERROR", "message": "ValueError: what?", "sqlState": "XX000", ...'
    """
    from lakeward.error_formatting import describe_error

    description = describe_error(error)
    if description.condition is None:
        return _error("INTERNAL_ERROR", f"{description.name}: {error}", "XX000")
    state = _SQL_STATE.search(description.message)
    text = _SQL_STATE.sub("", description.message)
    message = (text.partition(f"[{description.condition}]")[2] or text).strip()
    return _error(description.condition, message, state.group(1) if state else None)


def _session(java: Any) -> SparkSession:
    from pyspark.sql import SparkSession

    context = active_context()
    assert context is not None
    return SparkSession(context, java)


def _java_exception(error: BaseException) -> Any:
    """Return the JVM exception of a failed call, so that it arrives as if thrown there."""
    return getattr(error, "_origin", None) or getattr(error, "java_exception", None)
