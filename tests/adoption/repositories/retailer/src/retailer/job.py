"""A job that imports what a notebook has."""

from databricks.sdk.runtime import dbutils, spark


def load(table):
    volume = "/Volumes/main/default/landing"
    dbutils.fs.mkdirs(volume)
    with open(f"{volume}/orders.json", "w") as file:
        file.write('{"id": 1, "price": 2.5}\n{"id": 2, "price": 4.0}\n')
    spark.read.schema("id BIGINT, price DOUBLE").json(volume).write.mode("overwrite").saveAsTable(table)
    return dbutils.widgets.getArgument("day", "today")
