"""Work in a thread and a session of its own, which a task awaits as it awaits a streaming query."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from lakeward.pipelines.storage.streaming_query_task import QueryTask
from lakeward.spark_internals import activated, cloned_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
T = TypeVar("T")
_CANCEL_SECONDS = 0.5


class _Awaited:
    """Has the method of a streaming query by which schedulers wait."""

    def __init__(self, future: Future[T]) -> None:
        self._future = future

    def awaitTermination(self, seconds: float) -> bool:  # noqa: N802  # Spark's name
        return bool(wait([self._future], seconds).done)


def run_in_background(spark: SparkSession, work: Callable[[SparkSession], T]) -> QueryTask[T]:
    """Call `work` with a clone of the session: settings and temporary views that it sets are its own.

    Its Spark jobs have the tags of the calling thread. Its errors, KeyboardInterrupt included, propagate. A
    task that is closed earlier, as after Ctrl-C, cancels them and waits for its end.
    """
    from pyspark import InheritableThread

    session, future = cloned_session(spark), Future[T]()
    context, tag = spark.sparkContext, f"lakeward-background-{uuid4()}"

    def run() -> None:
        try:
            context.addJobTag(tag)
            with activated(session):
                future.set_result(work(session))
        except BaseException as error:  # noqa: BLE001  # raised where the result is taken
            future.set_exception(error)

    thread = InheritableThread(target=run, name="lakeward-background", daemon=True)
    thread.start()
    try:
        while not future.done():
            yield _Awaited(future)
    finally:
        while not future.done():
            # Again and again: it may be about to start a job.
            context.cancelJobsWithTag(tag)
            wait([future], _CANCEL_SECONDS)
        thread.join()
    return future.result()
