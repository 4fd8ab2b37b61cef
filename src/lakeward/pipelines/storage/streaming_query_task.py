"""Tasks that wait for streaming queries: generators that yield the query they wait for.

A scheduler resumes a task when its query has terminated, so several queries run at the same time in one
thread. `run_to_completion` drives a single task."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame
T = TypeVar("T")
QueryTask = Generator[Any, None, T]
_POLL_SECONDS = 0.5
_POOL = "spark.scheduler.pool"


def capture_errors(
    take: Callable[[Any, int], object], raised: list[BaseException]
) -> Callable[[Any, int], None]:
    """Wrap `take` for `foreachBatch` and store its exceptions in `raised`: Spark returns only their text."""

    def batch(frame: Any, number: int) -> None:
        try:
            take(frame, number)
        except BaseException as error:
            raised.append(error)
            raise

    return batch


def await_query(query: Any, raised: Sequence[BaseException] = ()) -> QueryTask[None]:
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
        return end.value  # type: ignore[no-any-return]  # the generator's own type says what it is
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
    on_query: Callable[[Any], None],
) -> QueryTask[dict[int, Any]]:
    """Call `take` with every batch of the stream `source`. Exceptions of a batch propagate unchanged.

    Returns the progress of each batch by its number.
    """
    raised: list[BaseException] = []
    progress: dict[int, Any] = {}
    started: list[Any] = []

    def batch(frame: DataFrame, number: int) -> None:
        for query in started:
            # Spark keeps only the last hundred.
            progress.update({each.batchId: each for each in query.recentProgress})
        take(frame, number)

    query = (
        source.writeStream.queryName(name)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .foreachBatch(capture_errors(batch, raised))
        .start()
    )
    on_query(query)
    started.append(query)
    yield from await_query(query, raised)
    progress.update({each.batchId: each for each in query.recentProgress})
    return progress
