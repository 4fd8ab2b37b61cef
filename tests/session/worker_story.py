"""Every kind of Python worker of Spark opens a file of a volume; prints what each of them read.

`python worker_story.py FOLDER` expects FOLDER/one/c/s/v/x.txt and FOLDER/two/c/s/v/x.txt, and the module
`newer`, which other processes have not compiled.
"""

import json
import os
import sys

os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from lakeward.session.jvm.java_runtime import find_java
from lakeward.session.paths import PathMap
from lakeward.session.worker_paths import point_workers

FILE = "/Volumes/c/s/v/x.txt"
FOLDER = sys.argv[1]


def text() -> str:
    # A module of the user with f-strings of Python 3.12: each kind of worker imports it by itself.
    import newer

    return newer.read({"file": FILE})


class Reader(DataSourceReader):
    """Plans its partitions in one worker, reads them in another."""

    def partitions(self):
        return [InputPartition(text())]

    def read(self, partition):
        yield (f"planned {partition.value}, read {text()}",)


class StreamReader(DataSourceStreamReader):
    """Its offsets come from a worker that Spark starts without the daemon."""

    def initialOffset(self):  # noqa: N802  # PySpark's name
        return {"seen": ""}

    def latestOffset(self):  # noqa: N802  # PySpark's name
        return {"seen": text()}

    def partitions(self, start, end):
        return [InputPartition(end["seen"])]

    def read(self, partition):
        yield (f"offset {partition.value}, read {text()}",)


class Source(DataSource):
    """The schema, too, depends on a file of the volume."""

    @classmethod
    def name(cls):
        return "story"

    def schema(self):
        return f"`{text()}` string"

    def reader(self, schema):
        return Reader()

    def streamReader(self, schema):  # noqa: N802  # PySpark's name
        return StreamReader()


def udf_reads(spark: SparkSession) -> str:
    read = F.udf(lambda path: open(path).read(), "string")  # noqa: SIM115  # a one-line UDF as users write it
    return only(spark.range(1).select(read(F.lit(FILE))))


def pandas_udf_reads(spark: SparkSession) -> str:
    def batches(frames):
        import pandas as pd

        for frame in frames:
            yield frame.assign(id=pd.read_csv(FILE, header=None).iloc[0, 0])

    return only(spark.range(1).mapInPandas(batches, "id string"))


def only(frame: DataFrame) -> str:
    return frame.collect()[0][0]


def main() -> None:
    os.environ["JAVA_HOME"] = str(find_java().parent.parent)
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.python.daemon.module", "lakeward.session.worker_daemon").getOrCreate()
    point_workers(spark.sparkContext, PathMap((("/Volumes", f"{FOLDER}/one"),)))
    spark.dataSource.register(Source)
    said = {"udf": udf_reads(spark), "pandas": pandas_udf_reads(spark)}
    said["import"] = only(spark.range(1).select(F.udf(text, "string")()))
    frame = spark.read.format("story").load()
    said["schema"] = frame.columns[0]
    said["source"] = only(frame)
    stream = spark.readStream.format("story").load().writeStream.format("memory").queryName("rows_seen")
    stream.trigger(availableNow=True).start().awaitTermination()
    said["stream"] = only(spark.table("rows_seen"))
    point_workers(spark.sparkContext, PathMap((("/Volumes", f"{FOLDER}/two"),)))
    said["another map"] = udf_reads(spark)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
