"""SQL cells: statements, parameters and results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakeward.dbutils import Environment
from lakeward.errors import NotebookError
from lakeward.notebooks.cell_errors import record_statement
from lakeward.quoting import quote_string, use_statement
from lakeward.sql import TokenCursor, Unmatched, fill_parameters, spans, tokenize, unbound_parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_BRACED = re.compile(r"\$\{([^}$\s]+)\}")

_BARE = re.compile(r"\$([A-Za-z_]\w*)")

_ARGUMENT = re.compile(r"""getArgument\(\s*(['"])(\w+)\1\s*\)""", re.IGNORECASE)

_KINDS = ("TEXT", "DROPDOWN", "COMBOBOX", "MULTISELECT")

_CONTAINERS = frozenset(("CATALOG", "SCHEMA", "DATABASE"))


@dataclass(frozen=True)
class Widget:
    """CREATE WIDGET; `choices` is a query if the choices come from one."""

    kind: str
    name: str
    default: str
    choices: str | None = None


@dataclass(frozen=True)
class Removal:
    """REMOVE WIDGET."""

    name: str


def statements_of(source: str, line: int, widgets: Mapping[str, str]) -> Iterator[str]:
    """Yield the statements of a cell that begins at `line`, each after as many newlines as in its file.

    `${w}`, `$w`, `:w` and getArgument('w') are replaced by a widget's value. Other names are not
    replaced: `${key}` may be a setting of Spark.

    >>> [s.strip() for s in statements_of("select '$a', ${b}, :a; select $$x$$", 1, {"a": "1"})]
    ["select '1', ${b}, '1'", 'select $$x$$']
    """
    text = _BRACED.sub(lambda m: widgets.get(m[1], m[0]), source)
    text = _BARE.sub(lambda m: widgets.get(m[1], m[0]), text)
    text = _ARGUMENT.sub(lambda m: quote_string(widgets[m[2]]) if m[2] in widgets else m[0], text)
    text = fill_parameters(text, {name: quote_string(value) for name, value in widgets.items()})
    lines, at = line - 1, 0
    for begin, end in spans(text):
        lines += text.count("\n", at, begin)
        column = begin - text.rfind("\n", 0, begin) - 1
        yield "\n" * lines + " " * column + text[begin:end]
        at = begin


def widget_statement(text: str) -> Widget | Removal | None:
    """Parse CREATE WIDGET and REMOVE WIDGET; return None for every other statement.

    >>> widget_statement("CREATE WIDGET DROPDOWN d DEFAULT 'x' CHOICES SELECT * FROM VALUES ('x')")
    Widget(kind='dropdown', name='d', default='x', choices="SELECT * FROM VALUES ('x')")
    """
    tokens = tokenize(text) or ()
    cursor = TokenCursor(tokens, text)
    try:
        if cursor.words("REMOVE", "WIDGET"):
            return Removal(cursor.part())
        cursor.need("CREATE", "WIDGET")
        kind = cursor.one_of(*_KINDS).lower()
        name = cursor.part()
        cursor.need("DEFAULT")
        default = cursor.string()
        choices = None
        if cursor.words("CHOICES"):
            begin = cursor.at
            cursor.finish()
            choices = cursor.text(begin)
    except Unmatched:
        return None
    return Widget(kind, name, default, choices)


@contextmanager
def located_errors(statement: str, source: str, line: int) -> Iterator[None]:
    """Add line and text of the statement to errors of the block: Spark gives some conditions no position.

    `statement` begins with as many newlines as in its file; `source` is the cell, which begins at `line`.
    """
    try:
        yield
    except Exception as error:
        first = next(iter(tokenize(statement) or ()), None)
        if first is not None:
            number = statement.count("\n", 0, first.start) + 1
            # Of the source: the statement has the values of widgets.
            text = "".join(source.splitlines()[number - line : number - line + 1]).strip()
            record_statement(error, number, text)
        raise


class SqlCells:
    """Runs SQL cells with the notebook's widgets.

    `default_schema` becomes the current schema before the first statement. While it is missing, statements
    that create catalogs and schemas are run without it; others fail.
    """

    def __init__(
        self,
        spark: SparkSession,
        environment: Environment,
        namespace: dict[str, Any],
        display: Callable[[Any], None],
        default_schema: tuple[str, ...] = (),
    ) -> None:
        self.spark, self.environment = spark, environment
        self.namespace, self.display = namespace, display
        self.default_schema = default_schema

    def run(self, source: str, line: int) -> None:
        """Run a cell. Errors of Spark propagate, with lines of the user's file."""
        last, done, widgets = None, 0, self._widgets
        statements = statements_of(source, line, widgets)
        while (statement := next(statements, None)) is not None:
            done += 1
            wanted = widget_statement(statement)
            with located_errors(statement, source, line):
                if wanted is None:
                    self._enter_schema(statement)
                    last = self._sql(statement)
                    continue
                self._widget(wanted)
            last = None
            if self._widgets != widgets:
                # Later statements use the new values.
                widgets = self._widgets
                statements = islice(statements_of(source, line, widgets), done, None)
        if last is not None and last.columns:
            self.namespace["_sqldf"] = last
            self.display(last)

    def _sql(self, statement: str) -> DataFrame:
        """Run a statement; an error about a parameter names those without a widget."""
        from pyspark.errors import PySparkException

        try:
            return self.spark.sql(statement)
        except PySparkException as error:
            names = unbound_parameters(statement, str(error))
            if not names:
                raise
            listed = ", ".join(f":{name}" for name in names)
            values = " ".join(f"--param {name}=…" for name in names)
            raise NotebookError(
                "UNBOUND_SQL_PARAMETER",
                f"The cell reads {listed}, and the notebook has no widget of the name.",
                next_step=f"Give values with {values} or the parameters of the task, or declare widgets.",
            ) from error

    def _enter_schema(self, statement: str) -> None:
        """Make `default_schema` the current one, unless `statement` may create or replace it."""
        if not self.default_schema:
            return
        from pyspark.errors import PySparkException

        words = [token.word for token in (tokenize(statement) or ())[:2]]
        selects = words[:1] == ["USE"]
        try:
            self.spark.sql(use_statement(self.default_schema))
        except PySparkException:
            if selects:
                self.default_schema = ()
            elif not (words[:1] in (["CREATE"], ["DROP"]) and _CONTAINERS.intersection(words[1:])):
                raise
        else:
            self.default_schema = ()

    @property
    def _widgets(self) -> dict[str, str]:
        return {**self.environment.widgets, **self.environment.arguments}

    def _widget(self, statement: Widget | Removal) -> None:
        widgets = self.namespace["dbutils"].widgets
        if isinstance(statement, Removal):
            widgets.remove(statement.name)
        elif statement.choices is None:
            choices: tuple[list[str], ...] = () if statement.kind == "text" else ([],)
            getattr(widgets, statement.kind)(statement.name, statement.default, *choices)
        else:
            values = [str(row[0]) for row in self.spark.sql(statement.choices).collect()]
            getattr(widgets, statement.kind)(statement.name, statement.default, values)
