"""Views of the catalog: created after the update, when the tables that they read are there."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lakeward.errors import first_line
from lakeward.pipelines.analysis.dataset_names import blank_live
from lakeward.pipelines.graph.elements import Dataset, DefaultSchema
from lakeward.pipelines.graph.session_scope import use_default_schema
from lakeward.quoting import quote_name, quote_string
from lakeward.session import condition_of

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

log = logging.getLogger("lakeward.pipelines")
_MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "INVALID_TEMP_OBJ_REFERENCE")


def create_views(
    spark: SparkSession, datasets: Iterable[Dataset], default_schema: DefaultSchema
) -> list[str]:
    """Create or replace the views with a definition, those that others read first; return the errors.

    A view that reads a temporary view of the pipeline cannot be stored, and is named in a warning.
    """
    from pyspark.errors import PySparkException

    waiting = [dataset for dataset in datasets if dataset.definition is not None]
    while waiting:
        failures: list[tuple[Dataset, PySparkException]] = []
        for view in waiting:
            try:
                _create(spark, view, default_schema)
            except PySparkException as error:
                failures.append((view, error))
        if len(failures) == len(waiting):
            return [text for view, error in failures if (text := _failure(view, error))]
        waiting = [view for view, _ in failures]
    return []


def _failure(view: Dataset, error: PySparkException) -> str | None:
    """Return the error; None for a view that only the update can evaluate, which is logged."""
    reason = first_line(str(error), type(error).__name__)
    if not (condition_of(error) or "").startswith(_MISSING):
        return f"{view.location}: the view {view.name} cannot be created. {reason}"
    log.warning(
        "The view %s is not created in the catalog: it reads what only the update has. %s", view.name, reason
    )
    return None


def _create(spark: SparkSession, view: Dataset, default_schema: DefaultSchema) -> None:
    definition = view.definition
    assert definition is not None
    scope = default_schema.or_given(definition.catalog, definition.schema)
    comment = f"COMMENT {quote_string(view.options.comment)}" if view.options.comment else ""
    query = blank_live(definition.query)
    with use_default_schema(spark, scope):
        if spark.sql(query).isStreaming:
            log.warning("The view %s is not created in the catalog: it reads a stream.", view.name)
            return
        spark.sql(f"CREATE OR REPLACE VIEW {quote_name(view.key)} {definition.columns} {comment} AS {query}")
