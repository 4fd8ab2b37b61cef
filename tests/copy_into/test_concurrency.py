"""Concurrent loads of one table."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.errors import PySparkException

from lakeward.session import condition_of
from tests.copy_into.conftest import Loads
from tests.copy_into.fault_injection import Step, after_each_step


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two loads wait for each other after writing, so that both start on the same version."""
    both, met = threading.Barrier(2), threading.Event()

    def meet(step: Step) -> None:
        if step == "rows written" and not met.is_set():
            both.wait(60)
            met.set()

    after_each_step(meet, monkeypatch.setattr)
    return iter(())


def run_both(loads: Loads, *clauses: str) -> list[object]:
    """Return the row count or the error condition of each load."""

    def load(clause: str) -> object:
        try:
            return loads.copy(clause)[0][0]
        except PySparkException as error:
            return condition_of(error)

    with ThreadPoolExecutor(2) as pool:
        return sorted(pool.map(load, clauses), key=str)


@pytest.mark.usefixtures("together")
@pytest.mark.slow
def test_loads_of_different_files_both_succeed(loads: Loads) -> None:
    loads.create()
    loads.put("a.json", {"id": 1})
    loads.put("b.json", {"id": 2}, {"id": 3})
    assert run_both(loads, "FILES = ('a.json')", "FILES = ('b.json')") == [1, 2]
    assert loads.rows("id") == [(1,), (2,), (3,)]
    assert loads.copy() == [(0, 0, 0)]


@pytest.mark.usefixtures("together")
@pytest.mark.rule("8.14")
def test_of_two_loads_of_the_same_file_one_is_refused_and_each_row_is_there_once(loads: Loads) -> None:
    loads.create()
    loads.put("a.json", {"id": 1})
    loads.put("b.json", {"id": 2})
    assert run_both(loads, "", "FILES = ('b.json')")[1] == "COPY_INTO_DUPLICATED_FILES_COPY_NOT_ALLOWED"
    loads.copy()
    assert loads.rows("id") == [(1,), (2,)]
