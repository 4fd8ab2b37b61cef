"""Tasks that wait for streaming queries: generators that yield the query they wait for.

A scheduler resumes a task when its query has terminated, so several queries run at the same time in one
thread. `run_to_completion` drives a single task. `run_in_background` makes other work such a task: it runs in
a thread and a session of its own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from lakeward.spark_internals import activated, cloned_session

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
T = TypeVar("T")
QueryTask = Generator[Any, None, T]
_POLL_SECONDS = 0.5
_POOL = "spark.scheduler.pool"
_CANCEL_SECONDS = 0.5
MAX_PROGRESS = 10_000
"""Micro-batches of a query whose progress Spark keeps; its default of 100 loses rows and counts of others."""
PROGRESS_SETTINGS = {"spark.sql.streaming.numRecentProgressUpdates": str(MAX_PROGRESS)}


def capture_errors(
    take: Callable[[DataFrame, int], object], raised: list[BaseException]
) -> Callable[[DataFrame, int], None]:
    """Wrap `take` for `foreachBatch` and store its exceptions in `raised`: Spark returns only their text."""

    def batch(frame: DataFrame, number: int) -> None:
        try:
            take(frame, number)
        except BaseException as error:
            raised.append(error)
            raise

    return batch


def await_query(query: StreamingQuery, raised: Sequence[BaseException] = ()) -> QueryTask[None]:
    """Wait until `query` has terminated, and stop it if the task ends earlier. Its failure propagates.

    An exception of Python code in its batches, stored in `raised` by `capture_errors`, is raised unchanged.
    """
    try:
        while query.isActive:
            yield query
        query.awaitTermination()
    except Exception:
        if raised:
            raise raised[0] from None
        raise
    finally:
        if query.isActive:
            query.stop()


def is_terminated(query: Any, seconds: float = _POLL_SECONDS) -> bool:
    """Return whether `query` terminates within `seconds`. Waits are short so that Ctrl-C is handled."""
    try:
        return bool(query.awaitTermination(seconds))
    except Exception:  # noqa: BLE001  # the work that waits for it raises it again
        return True


def run_to_completion(work: QueryTask[T], *, poll: Callable[[], None] = lambda: None) -> T:
    """Drive one task and return its result; `poll` is called while it waits. Its errors propagate."""
    try:
        while True:
            is_terminated(next(work))
            poll()
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # the generator's own type is precise
    finally:
        work.close()


def run_in_pool(context: SparkContext, pool: str, work: QueryTask[T]) -> QueryTask[T]:
    """Run a task with its Spark jobs, and those of queries and threads that it starts, in a scheduler pool.

    The thread has its former pool whenever the task is suspended.
    """
    try:
        while True:
            before = context.getLocalProperty(_POOL)
            context.setLocalProperty(_POOL, pool)
            try:
                awaited = next(work)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]  # as above
            finally:
                # None removes it.
                context.setLocalProperty(_POOL, before)  # type: ignore[arg-type]
            yield awaited
    finally:
        work.close()


def run_foreach_batch(
    source: DataFrame,
    take: Callable[[DataFrame, int], object],
    checkpoint: Path,
    *,
    name: str,
    on_query: Callable[[StreamingQuery], None],
) -> QueryTask[dict[int, Any]]:
    """Call `take` with every batch of the stream `source`. Exceptions of a batch propagate unchanged.

    Returns the progress of each batch by its number.
    """
    raised: list[BaseException] = []
    query = (
        source.writeStream.queryName(name)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .foreachBatch(capture_errors(take, raised))
        .start()
    )
    on_query(query)
    yield from await_query(query, raised)
    return {each.batchId: each for each in query.recentProgress}


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
