"""From statements to the registry: each calls the Python API's own functions (spec §6.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.elements import Flow, Place, Replacement, Rule
from lakeward.pipelines.handles import required
from lakeward.pipelines.in_sql.changes import Expression
from lakeward.pipelines.in_sql.columns import as_ddl
from lakeward.pipelines.in_sql.grammar import Misread, read
from lakeward.pipelines.in_sql.places import calling, function_at
from lakeward.pipelines.in_sql.queries import InUse, output_name, query_of
from lakeward.pipelines.in_sql.snapshots import SqlSnapshots, as_relations
from lakeward.pipelines.in_sql.statement import (
    Changes,
    Column,
    DatasetStatement,
    FlowStatement,
    Setting,
    Span,
    Use,
)
from lakeward.pipelines.in_sql.text import Piece, pieces_of
from lakeward.pipelines.names import parts
from lakeward.pipelines.registry import repeated_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SqlFile"]

_RULES = {"warn": "expect_all", "drop": "expect_all_or_drop", "fail": "expect_all_or_fail"}
_WITHOUT_EFFECT = {
    "SCHEDULE": "updates are started by `lakeward run`",
    "TRIGGER ON": "updates are started by `lakeward run`",
    "DEFAULT COLLATION": "strings compare byte by byte",
    "WITH TAGS": "tags are kept by no pipeline",
    "MASK": "only columns that are declared with their types can have one",
    "CREATE VIEW": "the view lives as long as the update, as a temporary one does",
}
Api = dict[str, Callable[..., Any]]


@dataclass
class SqlFile:
    """Declares the statements of one file, in order; SET and USE hold up to its end."""

    spark: SparkSession
    api: Api
    settings: dict[str, str] = field(default_factory=dict)
    home: InUse = field(default_factory=InUse)

    def declare(self, text: str, file: str, line: int = 1) -> None:
        """Declare what `text` says, which begins at `line` of `file`. Raises PipelineError."""
        for piece in pieces_of(text, file, line, self._value):
            try:
                statement = read(piece.text)
            except Misread as error:
                raise _syntax(piece, error) from None
            if isinstance(statement, Setting):
                if statement.value is not None:
                    self.settings[statement.key] = statement.value
            elif isinstance(statement, Use):
                self.home = self.home.changed(statement.catalog, statement.schema)
            elif isinstance(statement, DatasetStatement):
                calling(piece, lambda s=statement, p=piece: self._dataset(s, p))  # type: ignore[misc]
            else:
                calling(piece, lambda s=statement, p=piece: self._flow(s, p))  # type: ignore[misc]

    def _value(self, key: str) -> str | None:
        if key in self.settings:
            return self.settings[key]
        value = self.spark.conf.get(key, None)
        return None if value is None else str(value)

    def _dataset(self, statement: DatasetStatement, piece: Piece) -> None:
        registry = required("CREATE")
        for clause in statement.warnings:
            registry.warn(clause, f"{clause} has no effect here: {_WITHOUT_EFFECT[clause]}.")
        name = statement.name if statement.kind == "view" else self._named(statement.name)
        for error in repeated_rules(Place(piece.file, piece.line), name, statement.rules):
            raise error
        if statement.kind == "streaming_table":
            self.api["create_streaming_table"](
                name,
                **statement.options,
                schema=as_ddl(statement.columns),
                **{
                    parameter: {rule.name: rule.constraint for rule in rules}
                    for action, parameter in _RULES.items()
                    if (rules := [rule for rule in statement.rules if rule.action == action])
                },
            )
            if statement.query is not None:
                self._append(
                    name,
                    name,
                    statement.query,
                    piece,
                    columns=statement.columns,
                    replaces=statement.replaces,
                )
            if statement.changes is not None:
                self._changes(statement.changes, None, piece)
            return
        assert statement.query is not None, "the grammar asks for it"
        function = _checked(
            self.api, self._query(name, statement.query, piece, statement.columns), statement.rules
        )
        if statement.kind == "view":
            comment = statement.options.get("comment")
            self.api["temporary_view"](name=name, comment=comment, spark_conf=self._conf)(function)
        else:
            self.api["materialized_view"](
                name=name,
                **statement.options,
                schema=as_ddl(statement.columns),
                spark_conf=self._conf,
            )(function)

    def _flow(self, statement: FlowStatement, piece: Piece) -> None:
        if statement.changes is not None:
            self._changes(statement.changes, statement.name, piece)
        else:
            assert statement.query is not None, "the grammar asks for it"
            target = self._named(statement.target)
            name = statement.name or f"{target}_line_{piece.line}"
            self._append(
                target, name, statement.query, piece, once=statement.once, replaces=statement.replaces
            )

    def _append(
        self,
        target: str,
        name: str,
        query: Span,
        piece: Piece,
        *,
        once: bool = False,
        columns: Sequence[Column] = (),
        replaces: Replacement | None = None,
    ) -> None:
        function = self._query(name, query, piece, columns)
        if replaces is not None:
            registry, place = required("INSERT"), Place(piece.file, piece.line)
            if replaces.using:
                replaces = replace(replaces, sequence_by=_column(replaces.sequence_by))
            key = registry.key(target, short=False)
            registry.flows.append(Flow(name, key, function, place, once, self._conf or {}, replaces=replaces))
            return
        self.api["append_flow"](target=target, name=name, once=once, spark_conf=self._conf)(function)

    def _changes(self, changes: Changes, name: str | None, piece: Piece) -> None:
        target = self._named(changes.target)
        arguments = {
            key: _column(value) if isinstance(value, Expression) else value
            for key, value in changes.arguments.items()
        }
        for key in ("keys", *(() if changes.from_snapshot else ("sequence_by",))):
            if key not in arguments:
                words = {"keys": "KEYS (…)", "sequence_by": "SEQUENCE BY …"}[key]
                raise PipelineError(
                    "PARSE_SYNTAX_ERROR", f"{piece.file}:{piece.line}: AUTO CDC needs {words}."
                )
        source: Any = changes.source
        if "version" in arguments:
            source = self._snapshots(changes, arguments.pop("version"), name or target, piece)
        elif not changes.source_is_name:
            source = f"{parts(name or target)[-1]}_source"
            query = self._relation(changes.source, piece)
            self.api["temporary_view"](name=source)(function_at(piece, source, query))
        elif not self.home.is_default:
            source = self.home.full(source)
        if changes.from_snapshot:
            self.api["create_auto_cdc_from_snapshot_flow"](
                target=target, source=source, name=name, once=changes.once, spark_conf=self._conf, **arguments
            )
        else:
            self.api["create_auto_cdc_flow"](
                target=target, source=source, name=name, once=changes.once, spark_conf=self._conf, **arguments
            )

    def _snapshots(self, changes: Changes, versions: str, flow: str, piece: Piece) -> SqlSnapshots:
        return SqlSnapshots(
            self.spark,
            flow,
            output_name(self.spark, as_relations(versions)),
            self._relation(as_relations(versions), piece),
            self._relation(as_relations(changes.source), piece),
        )

    def _relation(self, text: str, piece: Piece) -> Callable[[], Any]:
        text = f"SELECT * FROM {text}"  # noqa: S608  # the user's own relation
        return query_of(self.spark, Piece(text, piece.file, piece.line, 1), (0, len(text)), self.home, ())

    @property
    def _conf(self) -> dict[str, str] | None:
        return dict(self.settings) or None

    def _named(self, name: str) -> str:
        return name if self.home.is_default else self.home.full(name)

    def _query(self, name: str, span: Span, piece: Piece, columns: Sequence[Column]) -> Callable[[], Any]:
        return function_at(piece, name, query_of(self.spark, piece, span, self.home, columns))


def _checked(api: Api, function: Callable[[], Any], rules: tuple[Rule, ...]) -> Callable[[], Any]:
    for rule in reversed(rules):
        function = api[_RULES[rule.action]]({rule.name: rule.constraint})(function)
    return function


def _column(text: str) -> Any:
    from pyspark.sql import functions as F

    return F.expr(text)


def _syntax(piece: Piece, error: Misread) -> PipelineError:
    line, column = piece.place(error.offset)
    where = f"{piece.file}:{line}:{column}"
    shown = piece.text.split("\n")[line - piece.line].strip()
    if error.is_other:
        return PipelineError(
            "UNSUPPORTED_PIPELINE_SPARK_SQL_COMMAND",
            f"{where}: a pipeline's SQL file declares datasets and flows, and this statement begins with "
            f"{error.found}.\n    {shown}",
            next_step="Run it beforehand with `lakeward sql`, or in a notebook of its own.",
        )
    return PipelineError(
        "PARSE_SYNTAX_ERROR", f"{where}: Syntax error at or near '{error.found}'.\n    {shown}"
    )
