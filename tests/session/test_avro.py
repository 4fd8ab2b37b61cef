"""The format `avro` and its functions are part of every session, as on the platform."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import fastavro
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VALUES = """
SELECT id, CAST(id AS DECIMAL(10, 2)) AS d, TIMESTAMP '2024-01-01 00:00:00' AS t, DATE '2024-01-02' AS dt,
  named_struct('a', id) AS s, array(id) AS l, map('k', id) AS m, CAST(NULL AS STRING) AS n, X'00ff' AS b
FROM range(3)
"""


def test_every_reader_and_writer_takes_avro(spark: SparkSession, tmp_path: Path) -> None:
    path, rows = str(tmp_path / "a"), spark.sql(VALUES)
    rows.write.format("avro").save(path)
    expected = sorted(rows.collect(), key=repr)
    stream = spark.readStream.format("avro").schema(rows.schema).load(path)
    out = stream.writeStream.format("AVRO").option("checkpointLocation", str(tmp_path / "c"))
    out.trigger(availableNow=True).start(str(tmp_path / "b")).awaitTermination()
    for read in (
        spark.read.format("avro").load(path),
        spark.read.load(path, format="Avro"),
        spark.sql(f"SELECT * FROM avro.`{path}`"),
        spark.read.format("avro").load(str(tmp_path / "b")),
    ):
        assert sorted(read.collect(), key=repr) == expected


SCHEMA = """{"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"},
  {"name": "name", "type": ["null", "string"], "default": null}]}"""
_ENCODED = "SELECT to_avro(named_struct('id', id, 'name', 'n' || id), '{schema}') AS value FROM range(3)"


def _decoded(spark: SparkSession) -> list[Row]:
    return spark.sql("SELECT named_struct('id', id, 'name', 'n' || id) AS r FROM range(3)").collect()


def _by_columns(encoded: DataFrame) -> DataFrame:
    return encoded.select(from_avro("value", SCHEMA).alias("r"))


def _by_expression(encoded: DataFrame) -> DataFrame:
    return encoded.select(F.expr(f"from_avro(value, '{SCHEMA}', map())").alias("r"))


def _by_statement(encoded: DataFrame) -> DataFrame:
    encoded.createOrReplaceTempView("encoded")
    return encoded.sparkSession.sql(
        f"SELECT from_avro(value, '{SCHEMA}', map('mode', 'FAILFAST')) AS r FROM encoded"
    )


@pytest.mark.parametrize("decode", [_by_columns, _by_expression, _by_statement])
def test_values_of_messages_are_decoded_as_on_the_platform(
    spark: SparkSession, tmp_path: Path, decode: Callable[[DataFrame], DataFrame]
) -> None:
    encoded = spark.sql(_ENCODED.format(schema=SCHEMA))
    expected = _decoded(spark)
    assert sorted(decode(encoded).collect()) == expected
    encoded.write.format("delta").save(str(tmp_path / "t"))
    stream = decode(spark.readStream.format("delta").load(str(tmp_path / "t"))).writeStream
    out = stream.trigger(availableNow=True).option("checkpointLocation", str(tmp_path / "c"))
    out.start(str(tmp_path / "out")).awaitTermination()
    assert sorted(spark.read.format("delta").load(str(tmp_path / "out")).collect()) == expected


def test_what_to_avro_writes_is_read_by_another_library(spark: SparkSession) -> None:
    rows = spark.range(3).select(to_avro(F.struct("id", F.lit("a").alias("name")), SCHEMA).alias("value"))
    schema = fastavro.parse_schema(json.loads(SCHEMA))
    decoded = [fastavro.schemaless_reader(BytesIO(bytes(row["value"])), schema) for row in rows.collect()]
    assert decoded == [{"id": number, "name": "a"} for number in range(3)]


def test_a_value_that_does_not_fit_is_an_error_or_null(spark: SparkSession) -> None:
    wrong = spark.sql("SELECT X'FF' AS value")
    with pytest.raises(Py4JJavaError, match="Malformed records are detected in record parsing"):
        wrong.select(from_avro("value", SCHEMA, {"mode": "FAILFAST"})).collect()
    row = wrong.select(from_avro("value", SCHEMA, {"mode": "PERMISSIVE"}).alias("r")).collect()[0]
    assert row["r"] == Row(id=None, name=None)
