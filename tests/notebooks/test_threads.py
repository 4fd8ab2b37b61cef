"""Threads of a notebook's code have the notebook's session."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from tests.notebooks.conftest import Desk, text_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THREADS = {
    "Thread": "thread = threading.Thread(target=keep); thread.start(); thread.join()",
    "Timer": "timer = threading.Timer(0, keep); timer.start(); timer.join()",
    "ThreadPoolExecutor": "with ThreadPoolExecutor(1) as pool: pool.submit(keep).result()",
    "ThreadPool": "with ThreadPool(1) as pool: pool.apply(keep)",
    "to_thread": "asyncio.run(asyncio.to_thread(keep))",
    "InheritableThread": "thread = InheritableThread(target=keep); thread.start(); thread.join()",
    "thread of a thread": (
        "nested = lambda: asyncio.run(asyncio.to_thread(keep))\n"
        "with ThreadPoolExecutor(1) as pool: pool.submit(nested).result()"
    ),
}
NOTEBOOK = """\
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from delta.tables import DeltaTable
from pyspark import InheritableThread
from pyspark.sql import SparkSession

spark.sql("USE SCHEMA")
spark.range(3).write.mode("overwrite").saveAsTable("numbers")
found = []

def probe():
    name = "".join(filter(str.isalnum, threading.current_thread().name)).lower()
    query = spark.readStream.table("numbers").writeStream.trigger(availableNow=True)
    folder = f"{dbutils.widgets.get('folder')}/{name}"
    query.option("checkpointLocation", folder).toTable(f"streamed_{name}").awaitTermination()
    built = DeltaTable.createOrReplace(spark).tableName(f"built_{name}").addColumn("a", "INT").execute()
    return {
        "active": SparkSession.getActiveSession() is spark,
        "builder": SparkSession.builder.getOrCreate() is spark,
        "current": (spark.catalog.currentCatalog(), spark.catalog.currentDatabase()),
        "listed": spark.catalog.tableExists("numbers"),
        "streamed": spark.table(f"streamed_{name}").count(),
        "built": built.toDF().columns,
        "known": DeltaTable.forName(spark, "numbers").toDF().count(),
    }

def keep():
    found.append(probe())

keep()
START
print(found[0]["active"], found[0] == found[1] or found)
"""


@pytest.mark.parametrize("start", THREADS.values(), ids=THREADS)
def test_a_thread_has_the_session_of_the_code_that_started_it(desk: Desk, start: str) -> None:
    file = desk.file("threads.py", NOTEBOOK.replace("START", start))
    finished = desk.done(file, parameters={"folder": str(desk.folder / "state")})
    assert text_of(finished, 1).splitlines()[-1] == "True True"


def test_threads_that_have_ended_keep_no_connection(desk: Desk, spark: SparkSession) -> None:
    connections = spark.sparkContext._gateway._gateway_client.deque
    gc.collect()
    before = len(connections)
    code = (
        "import threading\n"
        "threads = [threading.Thread(target=lambda: spark.range(1).count()) for _ in range(5)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(len(threads))\n"
    )
    desk.done(desk.file("many.py", code))
    gc.collect()
    # Threads of Py4J may have connected meanwhile.
    assert len(connections) < before + 5
