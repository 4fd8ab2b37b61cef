"""COPY INTO and Auto Loader load the same table from the same real files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.copy_into.conftest import Loads

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@pytest.mark.slow
def test_eighty_days_of_retail_give_the_table_that_auto_loader_gives(loads: Loads, data: Path) -> None:
    spark, source = loads.spark, data / "retail"
    loads.create("")
    options = "FORMAT_OPTIONS ('header' = 'true', 'mergeSchema' = 'true', 'escape' = '\"')"
    copied = loads.copy(options, source=f"'{source}'", file_format="CSV", mergeSchema="true")[0][0]
    (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "csv")
        .option("cloudFiles.schemaLocation", str(loads.folder.parent / "schemas"))
        .option("escape", '"')
        .load(str(source))
        .writeStream.option("checkpointLocation", str(loads.folder.parent / "checkpoint"))
        .trigger(availableNow=True)
        .toTable(f"{loads.table}_streamed")
        .awaitTermination()
    )
    streamed = spark.table(f"{loads.table}_streamed").drop("_rescued_data")
    assert spark.table(loads.table).columns == streamed.columns
    assert copied == streamed.count()
    assert _sum(spark.table(loads.table)) == _sum(streamed)


def _sum(rows: DataFrame) -> object:
    """A number that differs where a row differs or is there more often."""
    from pyspark.sql import functions as F

    return rows.agg(F.sum(F.xxhash64(*rows.columns).cast("decimal(38,0)"))).first()
