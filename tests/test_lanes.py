"""Which cases of a test with a JVM the default lane runs."""

from __future__ import annotations

import random

import pytest

from tests import lanes


class _Case:
    """What `thin_out` uses of a collected test."""

    def __init__(self, nodeid: str, *marks: str) -> None:
        self.nodeid, self.marks = nodeid, {*marks}

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.add(mark.name)


def _remaining(cases: list[_Case]) -> set[str]:
    lanes.thin_out(cases)  # type: ignore[arg-type]
    return {case.nodeid for case in cases if "slow" not in case.marks}


def _matrix(*marks: str, cases: int = 20) -> list[_Case]:
    return [_Case(f"tests/test_a.py::test_a[{number}]", *marks) for number in range(cases)]


@pytest.mark.parametrize("mark", ["spark", "process"])
def test_some_cases_remain_and_the_same_in_every_worker(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(lanes.LANE, "default")
    remaining = _remaining(_matrix(mark))
    assert len(remaining) == lanes.CASES_KEPT
    shuffled = _matrix(mark)
    random.Random(1).shuffle(shuffled)
    assert _remaining(shuffled) == remaining


def test_cases_that_are_long_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(lanes.LANE, "default")
    cases = _matrix("spark")
    for case in cases[lanes.CASES_KEPT :]:
        case.marks.add("slow")
    assert _remaining(cases) == {case.nodeid for case in cases[: lanes.CASES_KEPT]}


def test_tests_without_a_jvm_run_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(lanes.LANE, "default")
    assert len(_remaining(_matrix())) == 20


@pytest.mark.parametrize("lane", [None, "all", "fast"])
def test_all_cases_run_elsewhere(lane: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(lanes.LANE, raising=False)
    if lane:
        monkeypatch.setenv(lanes.LANE, lane)
    assert len(_remaining(_matrix("spark"))) == 20
