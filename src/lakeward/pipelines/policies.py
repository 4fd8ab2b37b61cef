"""The row filter and the column masks that the files give a dataset, set on its table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lakeward.pipelines.appending import widen
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.in_sql import masks_in
from lakeward.pipelines.names import quoted
from lakeward.pipelines.tables import StoredTable
from lakeward.session import stored_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["govern", "noted", "policies"]

# Where a table says what pipelines set on it: what somebody else has set is never taken back.
_NOTE = "lakeward.policies"


def policies(dataset: Dataset) -> dict[str, str]:
    """The functions with their arguments: the masks by column, and under the name "" the row filter."""
    options = dataset.options
    masks = masks_in(options.schema) if isinstance(options.schema, str) else {}
    return masks if options.row_filter is None else {"": options.row_filter, **masks}


def noted(dataset: Dataset) -> dict[str, str]:
    """The table property that tells of the policies; none without any."""
    wanted = policies(dataset)
    return {_NOTE: json.dumps(wanted, sort_keys=True)} if wanted else {}


def govern(spark: SparkSession, dataset: Dataset, stored: StoredTable | None, schema: StructType) -> None:
    """Set the policies of the files; what earlier files said and these say no more goes.

    `stored` is the table as the update found it; policies may name columns of `schema` that it lacks.
    Raises what setting a policy raises.
    """
    name, wanted = quoted(stored_name(spark, dataset.key)), policies(dataset)
    known = json.loads(stored.properties.get(_NOTE, "{}")) if stored is not None else {}
    if wanted:
        widen(spark, dataset.key, schema)
    for column, clause in wanted.items():
        spark.sql(f"ALTER TABLE {name} {_setting('SET', column)} {clause}")
    for column in known.keys() - wanted.keys():
        spark.sql(f"ALTER TABLE {name} {_setting('DROP', column)}")
    if known and not wanted:
        spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES IF EXISTS ('{_NOTE}')")


def _setting(verb: str, column: str) -> str:
    return f"ALTER COLUMN {quoted([column])} {verb} MASK" if column else f"{verb} ROW FILTER"
