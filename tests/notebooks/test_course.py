"""The steps of a classic streaming course, in one notebook: a stream over a Delta table as a view, counts per
device, complete mode, once and 4-second triggers, data that lands in between, all streams stopped."""

from __future__ import annotations

from tests.notebooks.conftest import Desk, text_of

COURSE = """\
    # Databricks notebook source
    # MAGIC %md ## Streams over a table

    # COMMAND ----------

    # MAGIC %run ./includes

    # COMMAND ----------

    # MAGIC %sql
    # MAGIC USE SCHEMA_NAME;
    # MAGIC CREATE TABLE readings (device INT, celsius DOUBLE);
    # MAGIC INSERT INTO readings VALUES (1, 20.5), (1, 21.0), (2, 18.0)

    # COMMAND ----------

    (spark.readStream.table("readings").createOrReplaceTempView("readings_stream"))

    # COMMAND ----------

    # MAGIC %sql
    # MAGIC CREATE OR REPLACE TEMP VIEW counts AS (
    # MAGIC   SELECT device, count(*) AS total FROM readings_stream GROUP BY device)

    # COMMAND ----------

    (spark.table("counts")
        .writeStream
        .option("checkpointLocation", f"{checkpoints}/counts")
        .outputMode("complete")
        .trigger(once=True)
        .toTable("device_counts")
        .awaitTermination())

    # COMMAND ----------

    # MAGIC %sql SELECT * FROM device_counts ORDER BY device

    # COMMAND ----------

    # MAGIC %sql INSERT INTO readings VALUES (2, 19.0), (3, 25.0)

    # COMMAND ----------

    query = (spark.table("counts")
        .writeStream
        .option("checkpointLocation", f"{checkpoints}/counts")
        .outputMode("complete")
        .queryName("counting")
        .trigger(processingTime="4 seconds")
        .toTable("device_counts"))
    block_until_stream_is_ready(query)

    # COMMAND ----------

    display(spark.readStream.table("readings"), streamName="shown")
    shown = [each for each in spark.streams.active if each.name == "shown"][0]
    block_until_stream_is_ready(shown, 1)
    shown.processAllAvailable()

    # COMMAND ----------

    for stream in spark.streams.active:
        stream.stop()
        stream.awaitTermination()
    assert not spark.streams.active

    # COMMAND ----------

    total = spark.sql("SELECT sum(total) AS total FROM device_counts").first()["total"]
    dbutils.notebook.exit(total)
"""

INCLUDES = """\
    # Databricks notebook source
    import time
    import warnings

    # MAGIC %md
    checkpoints = "file:FOLDER/checkpoints"
    warnings.simplefilter("ignore")

    def block_until_stream_is_ready(query, min_batches=1):
        while len(query.recentProgress) < min_batches:
            time.sleep(0.2)
        print(f"The stream has processed {len(query.recentProgress)} batches")
"""


def test_the_course_notebook_runs_unchanged(desk: Desk) -> None:
    desk.file("includes.py", INCLUDES.replace("FOLDER", str(desk.folder)))
    notebook = desk.file("course.py", COURSE.replace("SCHEMA_NAME", f"main.{desk.schema}"))
    catalog = desk.spark.catalog.currentCatalog()
    schema = desk.spark.catalog.currentDatabase()
    try:
        finished = desk.done(notebook)
    finally:
        desk.spark.catalog.setCurrentCatalog(catalog)
        desk.spark.catalog.setCurrentDatabase(schema)
        for view in ("readings_stream", "counts"):
            desk.spark.catalog.dropTempView(view)
    assert finished.exit_value == "5"
    assert [line.split() for line in text_of(finished, 7).splitlines()[2:4]] == [["1", "2"], ["2", "1"]]
    assert "The stream has processed" in text_of(finished, 9)
    assert text_of(finished, 10).count("\n") >= 6
