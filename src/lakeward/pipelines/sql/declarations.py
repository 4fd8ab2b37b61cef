"""Declares parsed statements through the functions of the Python API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lakeward.error_formatting import sql_position
from lakeward.errors import PipelineError, SqlError
from lakeward.pipelines.api.datasets import catalog_view
from lakeward.pipelines.api.registry import duplicate_expectations
from lakeward.pipelines.api.signatures import require_registry
from lakeward.pipelines.graph.column_ddl import ColumnDefinition, format_ddl, name_columns
from lakeward.pipelines.graph.elements import Expectation, Flow, ReplaceSpec, ViewDefinition, split_name
from lakeward.pipelines.sql.clauses import IGNORED_CLAUSES, SqlExpression
from lakeward.pipelines.sql.grammar import SqlSyntaxError, parse_statement
from lakeward.pipelines.sql.queries import (
    NameScope,
    SqlSnapshots,
    as_relations,
    query_function,
    version_column_name,
)
from lakeward.pipelines.sql.statements import (
    ChangesClause,
    DatasetStatement,
    FlowStatement,
    SetStatement,
    SourceStatement,
    Span,
    UseStatement,
    split_source,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def call_at(source: SourceStatement, call: Callable[[], Any]) -> Any:
    """Call `call` from the statement's line, so that locations and errors refer to the SQL file.

    Errors propagate.
    """
    code = compile("\n" * (source.line - 1) + "call()", source.file, "exec", dont_inherit=True)
    exec(code, {"call": call})  # noqa: S102  # one call of ours, compiled for its location alone
    return None


def function_at(source: SourceStatement, name: str, call: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function located at the statement's line that returns the result of `call`."""
    code = compile(
        "\n" * (source.line - 1) + "def query(): return call()",
        source.file,
        "exec",
        dont_inherit=True,
    )
    space: dict[str, Any] = {"call": _with_position(source, call)}
    exec(code, space)  # noqa: S102  # as above
    function: Callable[[], Any] = space["query"]
    function.__name__ = function.__qualname__ = name
    return function


def _with_position(source: SourceStatement, call: Callable[[], Any]) -> Callable[[], Any]:
    """Store the position in Spark's errors on the error, for `with_source_location`."""

    def placed() -> Any:
        try:
            return call()
        except Exception as error:
            position = sql_position(str(error))
            if position is not None:
                line, column = position
                error.__dict__.setdefault("user_location", f"{source.file}:{line}:{column}")
            raise

    return placed


_EXPECTATION_PARAMETERS = {"warn": "expect_all", "drop": "expect_all_or_drop", "fail": "expect_all_or_fail"}
_IGNORED_CLAUSES = {
    **IGNORED_CLAUSES,
    "MASK": "only columns that are declared with their types can have one",
}
Api = dict[str, Callable[..., Any]]


@dataclass
class SqlFile:
    """Declares the statements of one file in order; SET and USE apply up to its end."""

    spark: SparkSession
    api: Api
    settings: dict[str, str] = field(default_factory=dict)
    scope: NameScope = field(default_factory=NameScope)

    def declare(self, text: str, file: str, line: int = 1) -> None:
        """Declare the statements of `text`, which begins at `line` of `file`. Raises PipelineError."""
        for source in split_source(text, file, line, self._value):
            for key in source.unset:
                require_registry("CREATE").warn(f"${{{key}}}", _unset(key))
            try:
                statement = parse_statement(source.text)
            except SqlSyntaxError as error:
                raise _syntax_error(source, error) from None
            except SqlError as error:
                raise PipelineError.at(f"{source.file}:{source.line}", error) from None
            if isinstance(statement, SetStatement):
                if statement.value is not None:
                    self.settings[statement.key] = statement.value
            elif isinstance(statement, UseStatement):
                self.scope = self.scope.changed(statement.catalog, statement.schema)
            elif isinstance(statement, DatasetStatement):
                call_at(source, lambda s=statement, p=source: self._dataset(s, p))  # type: ignore[misc]
            else:
                call_at(source, lambda s=statement, p=source: self._flow(s, p))  # type: ignore[misc]

    def _value(self, key: str) -> str | None:
        if key in self.settings:
            return self.settings[key]
        value = self.spark.conf.get(key, None)
        return None if value is None else str(value)

    def _dataset(self, statement: DatasetStatement, source: SourceStatement) -> None:
        registry = require_registry("CREATE")
        for clause in statement.warnings:
            registry.warn(clause, f"{clause} has no effect here: {_IGNORED_CLAUSES[clause]}.")
        is_stored = bool(statement.options.get("stored"))
        is_temporary = statement.kind == "view" and not is_stored
        name = statement.name if is_temporary else self._named(statement.name)
        for error in duplicate_expectations(source.location, name, statement.expectations):
            raise error
        if statement.kind == "streaming_table":
            self._streaming_table(name, statement, source)
            return
        assert statement.query is not None, "the grammar asks for it"
        function = _with_expectations(
            self.api,
            self._query(name, statement.query, source, statement.columns),
            statement.expectations,
        )
        if is_stored:
            catalog_view(
                registry,
                function,
                name=name,
                comment=statement.options.get("comment"),
                definition=ViewDefinition(
                    source.text_in_place(*statement.query),
                    name_columns(statement.columns),
                    self.scope.catalog,
                    self.scope.schema,
                ),
                spark_conf=self._conf or {},
            )
        elif is_temporary:
            comment = statement.options.get("comment")
            self.api["temporary_view"](name=name, comment=comment, spark_conf=self._conf)(function)
        else:
            self.api["materialized_view"](
                name=name,
                **statement.options,
                schema=format_ddl(statement.columns),
                spark_conf=self._conf,
            )(function)

    def _streaming_table(self, name: str, statement: DatasetStatement, source: SourceStatement) -> None:
        expectations = {
            parameter: {
                each.name: each.constraint for each in statement.expectations if each.action == action
            }
            for action, parameter in _EXPECTATION_PARAMETERS.items()
        }
        self.api["create_streaming_table"](
            name,
            **statement.options,
            schema=format_ddl(statement.columns),
            **{parameter: given for parameter, given in expectations.items() if given},
        )
        if statement.query is not None:
            self._append(
                name,
                name,
                statement.query,
                source,
                columns=statement.columns,
                replaces=statement.replaces,
            )
        if statement.changes is not None:
            self._changes(statement.changes, None, source)

    def _flow(self, statement: FlowStatement, source: SourceStatement) -> None:
        if statement.changes is not None:
            self._changes(statement.changes, statement.name, source)
        else:
            assert statement.query is not None, "the grammar asks for it"
            target = self._named(statement.target)
            name = statement.name or f"{target}_line_{source.line}"
            self._append(
                target,
                name,
                statement.query,
                source,
                once=statement.once,
                replaces=statement.replaces,
            )

    def _append(
        self,
        target: str,
        name: str,
        query: Span,
        source: SourceStatement,
        *,
        once: bool = False,
        columns: Sequence[ColumnDefinition] = (),
        replaces: ReplaceSpec | None,
    ) -> None:
        function = self._query(name, query, source, columns)
        if replaces is not None:
            registry = require_registry("INSERT")
            if replaces.using:
                replaces = replace(replaces, sequence_by=_column(replaces.sequence_by))
            key = registry.key(target, short=False)
            registry.flows.append(
                Flow(name, key, function, source.location, once, self._conf or {}, replaces=replaces)
            )
            return
        self.api["append_flow"](target=target, name=name, once=once, spark_conf=self._conf)(function)

    def _changes(self, changes: ChangesClause, name: str | None, source: SourceStatement) -> None:
        target = self._named(changes.target)
        arguments = {
            key: _column(value) if isinstance(value, SqlExpression) else value
            for key, value in changes.arguments.items()
        }
        for key in ("keys", *(() if changes.from_snapshot else ("sequence_by",))):
            if key not in arguments:
                words = {"keys": "KEYS (…)", "sequence_by": "SEQUENCE BY …"}[key]
                raise PipelineError(
                    "PARSE_SYNTAX_ERROR",
                    f"{source.location}: AUTO CDC needs {words}.",
                )
        feed: Any = changes.source
        if "version" in arguments:
            feed = self._snapshots(changes, arguments.pop("version"), name or target, source)
        elif not changes.source_is_name:
            feed = f"{split_name(name or target)[-1]}_source"
            query = self._relation(changes.source, source)
            self.api["temporary_view"](name=feed)(function_at(source, feed, query))
        elif not self.scope.is_default:
            feed = self.scope.qualify(feed)
        function = "create_auto_cdc_from_snapshot_flow" if changes.from_snapshot else "create_auto_cdc_flow"
        self.api[function](
            target=target, source=feed, name=name, once=changes.once, spark_conf=self._conf, **arguments
        )

    def _snapshots(
        self, changes: ChangesClause, versions: str, flow: str, source: SourceStatement
    ) -> SqlSnapshots:
        return SqlSnapshots(
            self.spark,
            flow,
            version_column_name(self.spark, as_relations(versions)),
            self._relation(as_relations(versions), source),
            self._relation(as_relations(changes.source), source),
        )

    def _relation(self, text: str, source: SourceStatement) -> Callable[[], Any]:
        text = f"SELECT * FROM {text}"  # noqa: S608  # the user's own relation
        return query_function(
            self.spark,
            SourceStatement(text, source.file, source.line, 1),
            (0, len(text)),
            self.scope,
            (),
        )

    @property
    def _conf(self) -> dict[str, str] | None:
        return dict(self.settings) or None

    def _named(self, name: str) -> str:
        return name if self.scope.is_default else self.scope.qualify(name)

    def _query(
        self, name: str, span: Span, source: SourceStatement, columns: Sequence[ColumnDefinition]
    ) -> Callable[[], Any]:
        return function_at(source, name, query_function(self.spark, source, span, self.scope, columns))


def _with_expectations(
    api: Api, function: Callable[[], Any], expectations: tuple[Expectation, ...]
) -> Callable[[], Any]:
    for expectation in reversed(expectations):
        function = api[_EXPECTATION_PARAMETERS[expectation.action]](
            {expectation.name: expectation.constraint}
        )(function)
    return function


def _column(text: str) -> Any:
    from pyspark.sql import functions as F

    return F.expr(text)


def _unset(key: str) -> str:
    return f"${{{key}}} has no value, and is replaced by nothing: set {key} in the pipeline's configuration."


def _syntax_error(source: SourceStatement, error: SqlSyntaxError) -> PipelineError:
    line, column = source.position(error.offset)
    where = f"{source.file}:{line}:{column}"
    shown = source.text.split("\n")[line - source.line].strip()
    if error.is_other:
        return PipelineError(
            "UNSUPPORTED_PIPELINE_SPARK_SQL_COMMAND",
            f"{where}: a pipeline's SQL file declares datasets and flows, and this statement begins with "
            f"{error.found}.\n    {shown}",
            next_step="Run it before the update with `lakeward sql`, or in a notebook.",
        )
    return PipelineError(
        "PARSE_SYNTAX_ERROR",
        f"{where}: Syntax error at or near '{error.found}'.\n    {shown}",
        next_step=" ".join(map(_unset, source.unset)) or error.expected,
    )
