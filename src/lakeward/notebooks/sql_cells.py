"""SQL cells of a running notebook: statement by statement, the last result shown and kept as `_sqldf`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.dbutils import Environment
from lakeward.notebooks.sql_text import Removal, Widget, statements_of, widget_statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SqlCells"]


class SqlCells:
    """Runs SQL with the notebook's widgets."""

    def __init__(
        self,
        spark: SparkSession,
        environment: Environment,
        namespace: dict[str, Any],
        display: Callable[[Any], None],
    ) -> None:
        self.spark, self.environment = spark, environment
        self.namespace, self.display = namespace, display

    def run(self, source: str, line: int) -> None:
        """Run a cell. What Spark raises goes through, with lines of the user's file."""
        last = None
        count = len(statements_of(source, line, {}))
        for at in range(count):
            # Anew for each: a statement may have declared the widget that the next one uses.
            statement = statements_of(source, line, self._widgets)[at]
            asked = widget_statement(statement)
            if asked is not None:
                self._widget(asked)
                last = None
            else:
                last = self.spark.sql(statement)
        if last is not None and last.columns:
            self.namespace["_sqldf"] = last
            self.display(last)

    @property
    def _widgets(self) -> dict[str, str]:
        return {**self.environment.widgets, **self.environment.arguments}

    def _widget(self, asked: Widget | Removal) -> None:
        widgets = self.namespace["dbutils"].widgets
        if isinstance(asked, Removal):
            widgets.remove(asked.name)
        elif asked.choices is None:
            getattr(widgets, asked.kind)(asked.name, asked.default, *(() if asked.kind == "text" else ([],)))
        else:
            choices = [str(row[0]) for row in self.spark.sql(asked.choices).collect()]
            getattr(widgets, asked.kind)(asked.name, asked.default, choices)
