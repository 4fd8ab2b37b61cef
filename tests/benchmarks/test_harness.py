"""The harness of the benchmarks: what it measures, in which order, what it prints. No case is timed here."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.measure import Measured, measure
from benchmarks.registry import Case, Sides, case, load_cases, matching
from benchmarks.report import as_json, line, number

from benchmarks import __main__ as program
from benchmarks import registry
from lakeward.doctor import FINDINGS


class Clock:
    """Time that passes only when a side works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def works(self, name: str, *seconds: float) -> Iterator[str]:
        for s in seconds:
            self.now += s
            yield name


@pytest.fixture
def no_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_cases", {})


def test_rounds_are_interleaved_and_who_goes_first_changes() -> None:
    order: list[str] = []
    sides = Sides(ours=lambda: order.append("ours"), peer=lambda: order.append("peer"))
    measure(sides, rounds=4, warmups=0)
    assert order == ["ours", "peer", "peer", "ours", "ours", "peer", "peer", "ours"]


def test_the_ratio_is_of_medians_and_warmups_do_not_count() -> None:
    clock = Clock()
    ours, peer = clock.works("ours", 99, 2, 1, 9), clock.works("peer", 99, 4, 50, 4)
    measured = measure(Sides(lambda: next(ours), lambda: next(peer)), rounds=3, warmups=1, clock=clock)
    assert measured == Measured(ours=(2, 1, 9), peer=(4, 50, 4))
    assert measured.ratio == 0.5


def test_preparing_and_checking_are_outside_of_the_measured_time() -> None:
    clock = Clock()
    prepared, checked = clock.works("", *[100] * 4), clock.works("", *[100] * 4)
    ours, peer = clock.works("ours", 1, 1), clock.works("peer", 2, 2)
    results: list[str] = []

    def check(result: str) -> None:
        next(checked)
        results.append(result)

    def prepare() -> None:
        next(prepared)

    sides = Sides(ours=lambda: next(ours), peer=lambda: next(peer), prepare=prepare, check=check)
    assert measure(sides, rounds=2, warmups=0, clock=clock) == Measured(ours=(1, 1), peer=(2, 2))
    assert results == ["ours", "peer", "peer", "ours"]


@contextmanager
def quick(folder: Path) -> Iterator[Sides]:
    assert folder.is_dir()
    yield Sides(lambda: None, lambda: None)


def test_a_line_names_the_case_first_and_the_ratio_last() -> None:
    measured = Measured(ours=(2.0, 1.0, 3.0), peer=(4.0, 4.0, 5.0))
    assert line(Case("area.name", quick, goal=0.6), measured) == (
        "area.name seconds=2.000 peer_seconds=4.000 rounds=3 goal=0.6 goal_met=yes ratio=0.500"
    )
    assert line(Case("area.name", quick, goal=0.4), measured).endswith("goal=0.4 goal_met=no ratio=0.500")
    assert line(Case("area.name", quick), measured).endswith("rounds=3 ratio=0.500")
    assert as_json(Case("area.name", quick, goal=0.6), measured) == {
        "case": "area.name",
        "seconds": 2.0,
        "peer_seconds": 4.0,
        "ratio": 0.5,
        "goal": 0.6,
        "rounds": {"ours": [2.0, 1.0, 3.0], "peer": [4.0, 4.0, 5.0]},
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.000"), (12.3456, "12.346"), (0.5, "0.500"), (0.00123, "0.00123"), (1e-6, "0.00000100")],
)
def test_small_times_keep_three_significant_digits(seconds: float, text: str) -> None:
    assert number(seconds) == text


@pytest.mark.usefixtures("no_cases")
def test_cases_register_themselves_once() -> None:
    case("a.one", goal=0.5, warmups=3)(quick)
    case("a.two")(quick)
    case("b.one")(quick)
    assert registry._cases["a.one"] == Case("a.one", quick, 0.5, 3)
    with pytest.raises(ValueError, match=r"a\.one exists already"):
        case("a.one")(quick)
    cases = dict(registry._cases)
    assert [c.name for c in matching(cases, ["a.*"])] == ["a.one", "a.two"]
    assert [c.name for c in matching(cases, ["*.one", "a.two"])] == ["a.one", "a.two", "b.one"]
    assert [c.name for c in matching(cases, [])] == ["a.one", "a.two", "b.one"]


def test_the_cases_of_the_repository_are_found_without_starting_anything() -> None:
    cases = load_cases()
    assert {"pipelines.cold_3", "autoloader.small_20k"} <= set(cases)
    assert cases["pipelines.cold_3"].goal == 0.5
    assert cases["autoloader.small_20k"].goal == 0.3
    assert all(re.fullmatch(r"[a-z_]+\.[a-z0-9_]+", name) for name in cases)


@pytest.fixture
def three_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def broken(folder: Path) -> Iterator[Sides]:
        if folder.is_dir():
            raise RuntimeError("no such peer")
        yield Sides(lambda: None, lambda: None)

    cases = {name: Case(name, quick) for name in ("a.one", "b.two")} | {"a.broken": Case("a.broken", broken)}
    monkeypatch.setattr(program, "load_cases", lambda: cases)


@pytest.mark.usefixtures("three_cases")
def test_results_alone_are_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["*.one", "*.two", "--rounds", "2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    pattern = r"(a\.one|b\.two) seconds=[\d.]+ peer_seconds=[\d.]+ rounds=2 ratio=[\d.]+"
    assert [bool(re.fullmatch(pattern, text)) for text in printed] == [True, True]


@pytest.mark.usefixtures("three_cases")
def test_json_is_an_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["*.one", "--json"]) == 0
    (result,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert result["case"] == "a.one"
    assert len(result["rounds"]["ours"]) == 3


@pytest.mark.usefixtures("three_cases")
def test_a_case_that_fails_is_reported_and_the_others_are_still_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert program.main([]) == 1
    said = capsys.readouterr()
    assert "no such peer" in said.err
    assert [text.split()[0] for text in said.out.splitlines()] == ["a.one", "b.two"]


@pytest.mark.usefixtures("three_cases")
def test_a_name_that_no_case_has_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["nothing.*"]) == 2
    assert "There are: a.one, b.two, a.broken." in capsys.readouterr().err


def test_every_finding_of_the_doctor_has_a_case_for_the_gain_of_its_fix() -> None:
    measured = {name.removeprefix("doctor.") for name in load_cases() if name.startswith("doctor.")}
    assert measured == {*(each.replace("-", "_") for each in FINDINGS), "table_10000"}
