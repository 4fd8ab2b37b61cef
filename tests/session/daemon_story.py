"""What one command does with a session; prints what it saw as JSON. `python daemon_story.py SCENE`."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from lakeward.session import ensure_catalog, session, use_daemon

HANDLED = (
    "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN DECLARE c STRING; "
    "GET DIAGNOSTICS CONDITION 1 c = CONDITION_IDENTIFIER; SELECT c; END; SELECT 1 / 0; END"
)


def process_of(spark: Any) -> int:
    return spark._jvm.java.lang.ProcessHandle.current().pid()


def leave(spark: Any) -> dict[str, Any]:
    """Leave behind whatever one can leave behind, a stream that never ends included."""
    from pyspark.sql import functions as F

    spark.range(3).createOrReplaceTempView("left_view")
    spark.range(3).createGlobalTempView("left_global")
    spark.udf.register("left_function", lambda: 1, "int")
    spark.sql("CREATE TABLE left_table AS SELECT 1 AS id")
    spark.table("left_table").cache().count()
    ensure_catalog(spark, "left_catalog")
    spark.conf.set("spark.sql.shuffle.partitions", "17")
    spark._jsc.hadoopConfiguration().set("left.setting", "left")
    spark._jsc.sc().conf().set("spark.left", "left")
    spark._jvm.java.lang.System.setProperty("left.property", "left")
    spark._jvm.java.util.TimeZone.setDefault(spark._jvm.java.util.TimeZone.getTimeZone("Asia/Tokyo"))
    spark.sparkContext.setLogLevel("FATAL")
    spark.readStream.format("rate").load().writeStream.format("noop").start()
    Path("helper.py").write_text("VALUE = 'first'\n")
    sys.path.insert(0, "")
    import helper

    value = F.udf(lambda: helper.VALUE, "string")
    return {"helper": spark.range(1).select(value()).first()[0]}


def look(spark: Any) -> dict[str, Any]:
    """All that depends on what was there before and on where a command stands."""
    return {**left_over(spark), **functions(spark), **files(spark), **streams(spark)}


def left_over(spark: Any) -> dict[str, Any]:
    jvm = spark._jvm
    return {
        "tables": [row.tableName for row in spark.sql("SHOW TABLES").collect()],
        "globals": spark._jsparkSession.sharedState().globalTempViewManager().listViewNames("*").length(),
        "function": spark.catalog.functionExists("left_function"),
        "catalog": spark.conf.get("spark.sql.catalog.left_catalog", None),
        "partitions": spark.conf.get("spark.sql.shuffle.partitions"),
        "hadoop": spark._jsc.hadoopConfiguration().get("left.setting"),
        "left": spark.sparkContext.getConf().get("spark.left"),
        "property": jvm.java.lang.System.getProperty("left.property"),
        "zone": jvm.java.util.TimeZone.getDefault().getID(),
        "level": jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().name(),
        "streams": len(spark.streams.active),
        "cached": spark.sparkContext._jsc.getPersistentRDDs().size(),
        "current": [spark.catalog.currentCatalog(), spark.catalog.currentDatabase()],
        "name": spark.sparkContext.appName,
        "ansi": spark.conf.get("spark.sql.ansi.enabled"),
        "handled": spark.sql(HANDLED).first()[0],
    }


def functions(spark: Any) -> dict[str, Any]:
    from pyspark.sql import functions as F

    Path("helper.py").write_text("VALUE = 'second'\n")
    sys.path.insert(0, "")
    import helper

    seen = F.udf(lambda: f"{os.environ.get('STORY')} {Path.cwd().name} {helper.VALUE}", "string")
    gone = F.udf(lambda: str(os.environ.get("ONLY_FIRST")), "string")

    def doubled(frames: Any) -> Any:
        for frame in frames:
            yield frame * 2

    total = spark.sparkContext.accumulator(0)
    spark.sparkContext.parallelize(range(5)).foreach(total.add)
    word = spark.sparkContext.broadcast("read_word")
    read_word = F.udf(lambda: word.value, "string")
    return {
        "udf": spark.range(1).select(seen()).first()[0],
        "gone": spark.range(1).select(gone()).first()[0],
        "pandas": spark.range(3).mapInPandas(doubled, "id long").agg(F.sum("id")).first()[0],
        "accumulator": total.value,
        "broadcast": spark.range(1).select(read_word()).first()[0],
    }


def files(spark: Any) -> dict[str, Any]:
    from pyspark import SparkFiles

    Path("data").mkdir()
    Path("data/x.csv").write_text("1\n2\n")
    spark.range(4).write.save("relative")
    spark.sql("CREATE VOLUME main.default.v")
    spark.range(2).write.json("/Volumes/main/default/v/j")
    spark.sql("CREATE VIEW seen AS SELECT 1 AS id")
    Path("added.txt").write_text("added")
    spark.sparkContext.addFile("added.txt")
    return {
        "added": Path(SparkFiles.get("added.txt")).read_text(),
        "csv": spark.read.csv("data/x.csv").count(),
        "relative": sorted(p.name for p in Path("relative").iterdir() if p.is_dir()),
        "again": spark.read.load(str(Path("relative").absolute())).count(),
        "volume": spark.read.json("/Volumes/main/default/v/j").count(),
        "input": spark.read.csv("data/x.csv").inputFiles()[0].endswith(f"{Path.cwd()}/data/x.csv"),
        "view": spark.table("seen").count(),
    }


def streams(spark: Any) -> dict[str, Any]:
    landed, batches = Path("landing"), []
    landed.mkdir()
    (landed / "a.json").write_text('{"id": 1}\n{"id": 2}\n')

    def keep(frame: Any, number: int) -> None:
        batches.append(frame.count())

    read = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json")
    read = read.option("cloudFiles.schemaLocation", "state/schema").load(str(landed.absolute()))
    writing = read.writeStream.foreachBatch(keep).option("checkpointLocation", str(Path("state").absolute()))
    writing.trigger(availableNow=True).start().awaitTermination()
    console = spark.readStream.schema("id int").json(str(landed.absolute())).writeStream.format("console")
    console.trigger(availableNow=True).start().awaitTermination()
    return {"batches": batches}


def hold(spark: Any) -> dict[str, Any]:
    """Work for a long time, in the JVM and in a Python worker."""
    begun = Path("begun").absolute()
    spark.udf.register("slow", lambda n: begun.touch() or time.sleep(300) or n, "long")

    def tell() -> None:
        while not begun.exists():
            time.sleep(0.02)
        print("holding", process_of(spark), flush=True)

    threading.Thread(target=tell, daemon=True).start()
    spark.sql("SELECT slow(id) FROM range(2)").collect()
    return {}


def replace(spark: Any) -> dict[str, Any]:
    """Stop the context, and make another one that the daemon has not recorded yet."""
    from lakeward.session.daemon.lease import Lease

    jvm = process_of(spark)

    def hang(*_: Any) -> None:
        print("holding", jvm, flush=True)
        time.sleep(300)

    Lease.record_context = hang  # type: ignore[method-assign]
    spark.stop()
    type(spark).builder.getOrCreate()
    return {}


def plan(spark: Any) -> dict[str, Any]:
    """Ask for work that takes three seconds to plan: there is no job yet when one hears of it."""
    threading.Timer(0.3, lambda: print("holding", process_of(spark), flush=True)).start()
    # A literal row is projected while the query is optimized.
    late = "(SELECT java_method('java.lang.Thread', 'sleep', n) AS slept FROM VALUES (3000L) AS t(n))"
    spark.sql(f"SELECT sum(a.id % 7), max(slept) FROM range({10**12}) AS a CROSS JOIN {late}").collect()
    return {}


def jobs(spark: Any) -> dict[str, Any]:
    """Which jobs are at work within the next seconds, though this process asks for none."""
    seen: set[int] = set()
    for _ in range(50):
        seen.update(spark.sparkContext.statusTracker().getActiveJobsIds())
        time.sleep(0.1)
    return {"jobs": sorted(seen)}


def stopped(spark: Any) -> dict[str, Any]:
    """As many scripts end."""
    spark.stop()
    return {}


def forgotten(spark: Any) -> dict[str, Any]:
    """Let Java forget what the command before had shown it; then ask for what Python answers."""
    for _ in range(3):
        spark._jvm.java.lang.System.gc()
        spark._jvm.java.lang.System.runFinalization()
        time.sleep(0.2)
    return {"answer": spark.sql("SELECT '1'?::int").first()[0]}


def quick(spark: Any) -> dict[str, Any]:
    return {"one": spark.sql("SELECT 1").first()[0]}


def main() -> None:
    faulthandler.dump_traceback_later(100, exit=True)  # where it waited, if it does
    use_daemon()
    spark = session()
    seen = globals()[sys.argv[1]](spark)
    pid = process_of(spark) if sys.argv[1] != "stopped" else None
    print(json.dumps({"jvm": pid, **seen}), flush=True)


if __name__ == "__main__":
    main()
