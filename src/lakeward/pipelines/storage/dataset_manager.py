"""Create, replace and update the tables of datasets, with their properties and policies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.dataset_properties import HIDDEN_PROPERTY, KIND_PROPERTY
from lakeward.errors import PipelineError
from lakeward.pipelines.graph.column_ddl import column_masks, generated_columns
from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.graph.query_plans import source_nodes
from lakeward.pipelines.storage.checkpoints import Checkpoints
from lakeward.pipelines.storage.delta_tables import StoredTable, add_missing_columns, load_table
from lakeward.quoting import quote_name, quote_properties, quote_string
from lakeward.session import USER_METADATA, stored_name, temporary_conf
from lakeward.spark_internals import jvm_view
from lakeward.sql import PIPELINE as OWNER_PROPERTY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType
CLUSTERED_FROM_BYTES = 64 << 20
"""Size of the sources from which on the rows of a recomputed view are written in the order of CLUSTER BY."""
_BYTES_OF_A_RANGE = 32 << 20
_MAX_RANGES = 1000
_DELETION_VECTORS = "delta.enableDeletionVectors"
# Delta writes a checkpoint every ten commits otherwise, which takes longer than a small refresh. A view has
# one commit for each refresh, and the files of a small one are read from the checksum of its newest commit.
_CHECKPOINTS = "delta.checkpointInterval"
_VIEW_PROPERTIES = {_DELETION_VECTORS: "true", _CHECKPOINTS: "100"}
_TARGET_PROPERTIES = {_DELETION_VECTORS: "true"}
# Hash of what a materialized view was created with.
_DECLARATION_PROPERTY = "lakeward.declaration"
_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


def table_properties(dataset: Dataset, kind: str, owner: str) -> dict[str, str]:
    """Return the table properties of a dataset: the declared ones, and those that record its owner."""
    return {
        **dataset.options.properties,
        **policy_property(dataset),
        OWNER_PROPERTY: owner,
        KIND_PROPERTY: kind,
    }


def create_empty_table(
    spark: SparkSession, dataset: Dataset, schema: StructType, owner: str, kind: str = "streaming_table"
) -> None:
    """Create or replace the table without rows, in one commit."""
    columns = _column_ddl(spark, dataset, schema)
    spark.sql(
        f"CREATE OR REPLACE TABLE {quote_name(dataset.key)} ({columns}) USING delta"
        + _table_clauses(dataset, kind, owner)
    )


def _column_ddl(spark: SparkSession, dataset: Dataset, schema: StructType) -> str:
    jvm: Any = jvm_view(spark)
    # Default values are declared for INSERT into a source, and Delta refuses a table with them.
    fields = [
        {**each, "metadata": _without_defaults(each["metadata"])} for each in schema.jsonValue()["fields"]
    ]
    struct = jvm.org.apache.spark.sql.types.StructType.fromJson(
        json.dumps({"type": "struct", "fields": fields})
    )
    text = dataset.options.schema
    generated = generated_columns(text) if isinstance(text, str) else {}
    if not generated:
        return str(struct.toDDL())
    columns = []
    for field in struct.fields():
        column = generated.get(field.name().lower())
        columns.append(f"{field.toDDL()} {column.generation}" if column is not None else field.toDDL())
    return ", ".join(columns)


def _without_defaults(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in ("CURRENT_DEFAULT", "EXISTS_DEFAULT")}


def sync_properties(spark: SparkSession, dataset: Dataset, stored: StoredTable, owner: str) -> None:
    """Set a streaming table's comment and properties as declared; none is ever unset.

    Raises PipelineError for changed partition columns: existing rows cannot be moved.
    """
    name, options = quote_name(dataset.key), dataset.options
    if tuple(column.lower() for column in options.partition_cols) != tuple(
        c.lower() for c in stored.partition_cols
    ):
        raise PipelineError(
            "CANNOT_UPDATE_PARTITION_COLUMNS",
            f"{dataset.location}: `{dataset.name}` is partitioned by {list(stored.partition_cols)}, "
            f"but declared with {list(options.partition_cols)}.",
            next_step="Refresh the table fully.",
        )
    wanted = table_properties(dataset, "streaming_table", owner)
    there = stored.properties
    changed = {key: value for key, value in wanted.items() if there.get(key) != value}
    if changed:
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({quote_properties(changed)})")
    if options.comment and stored.comment != options.comment:
        spark.sql(f"COMMENT ON TABLE {name} IS {quote_string(options.comment)}")


def cluster_rows(df: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return the rows in partitions that are ranges of the clustering columns, each of which becomes a file.

    Delta clusters only in OPTIMIZE. Small results stay as they are: Spark computes the rows twice to find the
    ranges, and Databricks, too, clusters on write from a size on
    (https://docs.databricks.com/aws/en/delta/clustering#how-clustering-works).
    """
    if not columns:
        return df
    size = sum(int(leaf.stats().sizeInBytes()) for leaf in source_nodes(df))
    if size < CLUSTERED_FROM_BYTES:
        return df
    count = min(-(-size // _BYTES_OF_A_RANGE), _MAX_RANGES)
    return df.repartitionByRange(count, *[quote_name([column]) for column in columns])


def replace_table(
    df: DataFrame, dataset: Dataset, owner: str, user_metadata: str, stored: StoredTable | None
) -> None:
    """Replace the rows of a materialized view by `df` in one commit.

    `stored` is its table if only the rows may be new: with an unchanged declaration the table stays the same
    one for the views and streams that read it. Otherwise another table takes its place.
    """
    spark = df.sparkSession
    clauses = _table_clauses(dataset, "materialized_view", owner)
    declaration = hashlib.sha256(f"{clauses} {df.schema.json()}".encode()).hexdigest()
    if stored is not None and stored.properties.get(_DECLARATION_PROPERTY) == declaration:
        columns = [(field.name, field.dataType.simpleString()) for field in stored.schema.fields]
        if columns == [(field.name, field.dataType.simpleString()) for field in df.schema.fields]:
            with temporary_conf(spark, {USER_METADATA: user_metadata, _OVERWRITE_MODE: "static"}):
                df.write.mode("overwrite").insertInto(quote_name(dataset.key))
            return
    contents = "lakeward_contents"
    df.createOrReplaceTempView(contents)
    try:
        with temporary_conf(spark, {USER_METADATA: user_metadata}):
            spark.sql(
                f"CREATE OR REPLACE TABLE {quote_name(dataset.key)} USING delta"
                f"{clauses[:-1]}, '{_DECLARATION_PROPERTY}' = '{declaration}') AS TABLE {contents}"
            )
    finally:
        spark.catalog.dropTempView(contents)


def _table_clauses(dataset: Dataset, kind: str, owner: str) -> str:
    options = dataset.options
    return (
        (f" PARTITIONED BY ({_column_list(options.partition_cols)})" if options.partition_cols else "")
        + (f" CLUSTER BY ({_column_list(options.cluster_by)})" if options.cluster_by else "")
        + (f" LOCATION {quote_string(options.path)}" if options.path else "")
        + (f" COMMENT {quote_string(options.comment)}" if options.comment else "")
        + f" TBLPROPERTIES ({quote_properties(_initial_properties(dataset, kind, owner))})"
    )


def _initial_properties(dataset: Dataset, kind: str, owner: str) -> dict[str, str]:
    """Return the properties of a new table: those that its kind has, unless they are declared."""
    found = table_properties(dataset, kind, owner)
    declared = {key.lower() for key in found}
    defaults: Mapping[str, str] = {}
    if kind == "materialized_view":
        defaults = _VIEW_PROPERTIES
        found |= {} if _CHECKPOINTS.lower() in declared else {HIDDEN_PROPERTY: _CHECKPOINTS}
    elif any(flow.change_args is not None for flow in dataset.flows):
        defaults = _TARGET_PROPERTIES
    return found | {key: value for key, value in defaults.items() if key.lower() not in declared}


def _column_list(columns: Iterable[str]) -> str:
    return ", ".join(quote_name([column]) for column in columns)


# Records the policies that pipelines set on a table; others are never dropped.
_POLICY_PROPERTY = "lakeward.policies"


def table_policies(dataset: Dataset) -> dict[str, str]:
    """Return the declared masks by column, and the row filter under the name ""."""
    options = dataset.options
    masks = column_masks(options.schema) if isinstance(options.schema, str) else {}
    return masks if options.row_filter is None else {"": options.row_filter, **masks}


def policy_property(dataset: Dataset) -> dict[str, str]:
    """Return the table property that records the policies, empty without any."""
    wanted = table_policies(dataset)
    return {_POLICY_PROPERTY: json.dumps(wanted, sort_keys=True)} if wanted else {}


def apply_policies(
    spark: SparkSession, dataset: Dataset, stored: StoredTable | None, schema: StructType
) -> None:
    """Set the declared policies and drop those that are no longer declared.

    `stored` is the table before the update; policies may name columns of `schema` that it lacks. Errors of
    the statements propagate.
    """
    name, wanted = quote_name(stored_name(spark, dataset.key)), table_policies(dataset)
    known = json.loads(stored.properties.get(_POLICY_PROPERTY, "{}")) if stored is not None else {}
    if wanted:
        add_missing_columns(spark, dataset.key, schema)
    for column, clause in wanted.items():
        spark.sql(f"ALTER TABLE {name} {_policy_clause('SET', column)} {clause}")
    for column in known.keys() - wanted.keys():
        spark.sql(f"ALTER TABLE {name} {_policy_clause('DROP', column)}")
    if known and not wanted:
        spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES IF EXISTS ('{_POLICY_PROPERTY}')")


def _policy_clause(verb: str, column: str) -> str:
    return f"ALTER COLUMN {quote_name([column])} {verb} MASK" if column else f"{verb} ROW FILTER"


def prepare_streaming_table(
    spark: SparkSession,
    dataset: Dataset,
    schema: StructType,
    checkpoints: Checkpoints,
    *,
    owner: str,
) -> None:
    """Create, truncate or update the table before its flows run.

    A table that was dropped, or that was another kind of dataset, starts empty as in a full refresh,
    because its checkpoints refer to rows that it does not have.
    """
    stored = load_table(spark, dataset.key)
    was_other = stored is not None and stored.properties.get(KIND_PROPERTY) != "streaming_table"
    vanished = stored is None and checkpoints.has_progress(dataset.key)
    if was_other or vanished or checkpoints.is_resetting(dataset.key):
        checkpoints.begin_reset(dataset.key, [flow.name for flow in dataset.flows])
        create_empty_table(spark, dataset, schema, owner)
        checkpoints.finish_reset(dataset.key)
    elif stored is None:
        create_empty_table(spark, dataset, schema, owner)
    else:
        sync_properties(spark, dataset, stored, owner)
    apply_policies(spark, dataset, stored, schema)


def prepare_sink(dataset: Dataset, checkpoints: Checkpoints) -> None:
    """Complete the full refresh of a sink: its flows reprocess all input, existing output is kept."""
    if checkpoints.is_resetting(dataset.key):
        checkpoints.finish_reset(dataset.key)
