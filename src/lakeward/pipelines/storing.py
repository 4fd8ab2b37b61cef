"""How datasets are stored: creating, replacing and keeping up the tables themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.checks import OWNER
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.names import quoted
from lakeward.pipelines.policies import noted
from lakeward.pipelines.spark_settings import settings
from lakeward.pipelines.tables import StoredTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["KIND", "create_empty", "keep_up", "properties", "replace_contents"]

KIND = "lakeward.kind"
_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"


def properties(dataset: Dataset, kind: str, owner: str) -> dict[str, str]:
    """The table properties of a dataset: what the files say, and whose it is."""
    return {**dataset.options.properties, **noted(dataset), OWNER: owner, KIND: kind}


def create_empty(
    spark: SparkSession, dataset: Dataset, schema: StructType, owner: str, kind: str = "streaming_table"
) -> None:
    """Make the table with no rows, in one commit; a table that is there is emptied by the same."""
    jvm: Any = spark._jvm
    columns = jvm.org.apache.spark.sql.types.StructType.fromJson(schema.json()).toDDL()
    spark.sql(
        f"CREATE OR REPLACE TABLE {quoted(dataset.key)} ({columns}) USING delta"
        + _clauses(dataset, kind, owner)
    )


def keep_up(spark: SparkSession, dataset: Dataset, stored: StoredTable, owner: str) -> None:
    """Bring a streaming table's comment and properties to what the files say; none is ever unset.

    Raises PipelineError for other partition columns: rows that are there cannot be moved.
    """
    name, options = quoted(dataset.key), dataset.options
    if tuple(column.lower() for column in options.partition_cols) != tuple(
        c.lower() for c in stored.partition_cols
    ):
        raise PipelineError(
            "CANNOT_UPDATE_PARTITION_COLUMNS",
            f"{dataset.place}: `{dataset.name}` is partitioned by {list(stored.partition_cols)}, "
            f"and the files say {list(options.partition_cols)}.",
            next_step="A full refresh of the table changes it.",
        )
    wanted = properties(dataset, "streaming_table", owner)
    there = stored.properties
    changed = {key: value for key, value in wanted.items() if there.get(key) != value}
    if changed:
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({_pairs(changed)})")
    if options.comment and stored.comment != options.comment:
        spark.sql(f"COMMENT ON TABLE {name} IS {_literal(options.comment)}")


def replace_contents(df: DataFrame, dataset: Dataset, owner: str, user_metadata: str) -> None:
    """Make the materialized view hold exactly `df`, in one commit: readers see old rows or new ones."""
    spark = df.sparkSession
    contents = "lakeward_contents"
    df.createOrReplaceTempView(contents)
    try:
        with settings(spark, {_USER_METADATA: user_metadata}):
            spark.sql(
                f"CREATE OR REPLACE TABLE {quoted(dataset.key)} USING delta"
                f"{_clauses(dataset, 'materialized_view', owner)} AS TABLE {contents}"
            )
    finally:
        spark.catalog.dropTempView(contents)


def _clauses(dataset: Dataset, kind: str, owner: str) -> str:
    options = dataset.options
    return (
        (f" PARTITIONED BY ({_names(options.partition_cols)})" if options.partition_cols else "")
        + (f" CLUSTER BY ({_names(options.cluster_by)})" if options.cluster_by else "")
        + (f" LOCATION {_literal(options.path)}" if options.path else "")
        + (f" COMMENT {_literal(options.comment)}" if options.comment else "")
        + f" TBLPROPERTIES ({_pairs(properties(dataset, kind, owner))})"
    )


def _pairs(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{_literal(key)} = {_literal(value)}" for key, value in properties.items())


def _names(columns: Iterable[str]) -> str:
    return ", ".join(quoted([column]) for column in columns)


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
