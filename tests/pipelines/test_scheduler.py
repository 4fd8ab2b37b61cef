"""Independent datasets run concurrently; shown with fake queries, without Spark (SDP-4.14)."""

from __future__ import annotations

import pytest

from lakeward.pipelines.execution.scheduler import DatasetTask, run_concurrently
from lakeward.pipelines.storage.streaming_query_task import QueryTask, await_query, run_to_completion


class Query:
    """A query that terminates after a number of polls."""

    def __init__(self, polls: int, error: Exception | None = None) -> None:
        self.left, self.error = polls, error

    @property
    def isActive(self) -> bool:  # noqa: N802  # Spark's name
        return self.left > 0

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802  # Spark's name
        self.left = 0 if timeout is None else self.left - 1
        if self.left <= 0 and self.error:
            raise self.error
        return self.left <= 0

    def stop(self) -> None:
        self.left = 0


class Story:
    """What began and ended, in this order; `needs` says what has to end before."""

    def __init__(self, needs: dict[str, str] | None = None, most: int = 4) -> None:
        self.log: list[str] = []
        self.needs, self.most, self.queries = needs or {}, most, dict[str, Query]()

    def work(self, name: str) -> QueryTask[None]:
        self.log.append(name)
        if name.islower():
            self.queries[name] = Query(3)
            yield from await_query(self.queries[name])
        self.log.append(f"/{name}")

    def begin(self, name: str) -> DatasetTask:
        steps = DatasetTask(self.work(name))
        steps.advance()
        return steps

    def run(self, *names: str) -> str:
        run_concurrently(
            names,
            start=self.begin,
            is_ready=lambda name: name not in self.needs or f"/{self.needs[name]}" in self.log,
            advance=DatasetTask.advance,
            max_parallelism=self.most,
        )
        return " ".join(self.log)


def test_streams_wait_side_by_side_and_a_batch_runs_in_between() -> None:
    assert Story().run("a", "b", "C") == "a b C /C /a /b"


def test_what_needs_another_begins_when_that_has_ended() -> None:
    assert Story({"b": "a", "C": "b"}).run("a", "b", "C", "d") == "a d /a /d b /b C /C"


def test_no_more_than_so_many_at_a_time() -> None:
    assert Story(most=1).run("a", "b") == "a /a b /b"


def test_an_interrupt_stops_what_still_runs() -> None:
    story = Story()

    def interrupted(_: DatasetTask) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_concurrently(
            "ab", start=story.begin, is_ready=lambda _: True, advance=interrupted, max_parallelism=2
        )
    assert not any(query.isActive for query in story.queries.values())


def test_what_a_batch_raised_goes_through_as_it_was_raised() -> None:
    with pytest.raises(ValueError, match="of Spark"):
        run_to_completion(await_query(Query(2, ValueError("of Spark"))))
    with pytest.raises(KeyError):
        run_to_completion(await_query(Query(2, ValueError("of Spark")), [KeyError("of the batch")]))
