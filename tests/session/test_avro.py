"""`avro` is a format of every session, as on the platform."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.session.jvm.jvm_jar import has_avro_package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


def test_a_package_that_registers_avro_is_recognized() -> None:
    assert has_avro_package({"spark.jars.packages": "a:b:1,org.apache.spark:spark-avro_2.13:4.2.0"})
    assert has_avro_package({"spark.jars": "/x/spark-avro_2.13-4.2.0.jar"}) and not has_avro_package({})
