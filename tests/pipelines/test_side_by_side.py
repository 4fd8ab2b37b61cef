"""Datasets that do not need each other run at the same time (spec §7.6), told by streams without Spark."""

from __future__ import annotations

import pytest

from lakeward.pipelines.side_by_side import Steps, side_by_side
from lakeward.pipelines.waiting import Waiting, to_the_end, waited


class Query:
    """A stream that ends when it was asked often enough."""

    def __init__(self, asked: int, error: Exception | None = None) -> None:
        self.left, self.error = asked, error

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
        self.told: list[str] = []
        self.needs, self.most, self.queries = needs or {}, most, dict[str, Query]()

    def work(self, name: str) -> Waiting[None]:
        self.told.append(name)
        if name.islower():
            self.queries[name] = Query(3)
            yield from waited(self.queries[name])
        self.told.append(f"/{name}")

    def begin(self, name: str) -> Steps:
        steps = Steps(self.work(name))
        steps.go_on()
        return steps

    def run(self, *names: str) -> str:
        side_by_side(
            names,
            begin=self.begin,
            can_begin=lambda name: name not in self.needs or f"/{self.needs[name]}" in self.told,
            go_on=Steps.go_on,
            most=self.most,
        )
        return " ".join(self.told)


def test_streams_wait_side_by_side_and_a_batch_runs_in_between() -> None:
    assert Story().run("a", "b", "C") == "a b C /C /a /b"


def test_what_needs_another_begins_when_that_has_ended() -> None:
    assert Story({"b": "a", "C": "b"}).run("a", "b", "C", "d") == "a d /a /d b /b C /C"


def test_no_more_than_so_many_at_a_time() -> None:
    assert Story(most=1).run("a", "b") == "a /a b /b"


def test_an_interrupt_stops_what_still_runs() -> None:
    story = Story()

    def interrupted(_: Steps) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        side_by_side("ab", begin=story.begin, can_begin=lambda _: True, go_on=interrupted, most=2)
    assert not any(query.isActive for query in story.queries.values())


def test_what_a_batch_raised_goes_through_as_it_was_raised() -> None:
    with pytest.raises(ValueError, match="of Spark"):
        to_the_end(waited(Query(2, ValueError("of Spark"))))
    with pytest.raises(KeyError):
        to_the_end(waited(Query(2, ValueError("of Spark")), [KeyError("of the batch")]))
