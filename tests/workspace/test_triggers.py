"""Jobs that start by themselves: each trigger with a clock of the test's, and all of them with a server."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from lakeward.bundle import timers_of
from lakeward.session import Settings
from lakeward.workspace.state.store import Document, Store
from lakeward.workspace.triggers.scheduler import ScheduledStart, TriggerScheduler, scheduled_starts
from lakeward.workspace.triggers.triggers import Arrival, Continuous, Periodic, RecentRuns, Scheduled
from tests.workspace.server import running, until

NOON = datetime(2026, 3, 28, 12, tzinfo=timezone.utc).timestamp()
HOUR = 3600.0


def scheduled(expression: str, zone: str = "UTC") -> Scheduled:
    schedule = {"quartz_cron_expression": expression, "timezone_id": zone}
    (timer,) = timers_of({"schedule": schedule})
    return Scheduled(timer, NOON)


def fires(trigger: Any, *moments: float) -> list[bool]:
    return [trigger.due(NOON + moment) for moment in moments]


def test_a_schedule_fires_once_when_its_time_has_come() -> None:
    assert fires(scheduled("0 30 * * * ?"), 0, 1799, 1800, 1801, 5400) == [False, False, True, False, True]


def test_a_schedule_goes_by_its_zone_over_the_change_to_summer_time() -> None:
    # Half past five in Berlin is 04:30 in winter and, from the next morning on, 03:30 in UTC.
    assert fires(scheduled("0 30 5 * * ?", "Europe/Berlin"), 15.4 * HOUR, 15.5 * HOUR) == [False, True]


def test_times_that_were_slept_through_are_one() -> None:
    assert fires(scheduled("0 0 * * * ?"), 5.5 * HOUR, 5.6 * HOUR, 6 * HOUR) == [True, False, True]


def test_a_schedule_of_seconds_leaves_ten_between() -> None:
    trigger = scheduled("* * * * * ?")
    assert [moment for moment in range(25) if fires(trigger, moment)[0]] == [1, 11, 21]


@pytest.mark.parametrize(("unit", "hours"), [("MINUTES", 1 / 60), ("HOURS", 1), ("DAYS", 24), ("WEEKS", 168)])
def test_a_period_counts_from_when_it_was_first_seen(unit: str, hours: float) -> None:
    trigger = Periodic({"interval": 2, "unit": unit}, NOON)
    step = hours * HOUR
    assert fires(trigger, step, 2 * step, 3 * step, 4 * step, 9 * step, 10 * step) == [
        *(False, True, False, True, True, True),
    ]


class Place:
    """What a trigger looks at; a test changes it."""

    def __init__(self, **marks: int) -> None:
        self.marks = marks

    def __call__(self) -> dict[str, object]:
        return dict(self.marks)


def test_what_is_there_does_not_fire_and_what_comes_or_changes_does() -> None:
    place = Place(old=1)
    trigger = Arrival("FILE_ARRIVAL", {}, place)
    assert fires(trigger, 0) == [False]
    place.marks["new"] = 1
    assert fires(trigger, 1, 2) == [True, False]
    place.marks["old"] = 2
    assert fires(trigger, 3) == [True]
    del place.marks["old"]
    assert fires(trigger, 4) == [False]


def test_it_waits_until_nothing_more_comes_and_until_the_last_run_is_long_ago() -> None:
    place = Place()
    trigger = Arrival("FILE_ARRIVAL", {"wait_after_last_change_seconds": 60}, place)
    place.marks["a"] = 1
    assert fires(trigger, 0, 59) == [False, False]
    place.marks["b"] = 1
    assert fires(trigger, 59.5, 119, 120) == [False, False, True]
    seldom = Arrival("FILE_ARRIVAL", {"min_time_between_triggers_seconds": 60}, place)
    place.marks["c"] = 1
    assert fires(seldom, 0) == [True]
    place.marks["d"] = 1
    assert fires(seldom, 59, 60) == [False, True]


@pytest.mark.parametrize(("condition", "after_one"), [("ANY_UPDATED", True), ("ALL_UPDATED", False)])
def test_any_or_all_of_the_tables_have_to_change(condition: str, after_one: bool) -> None:
    place = Place(x=1, y=1)
    trigger = Arrival("TABLE", {"condition": condition}, place, frozenset("xy"))
    place.marks["x"] = 2
    assert fires(trigger, 0) == [after_one]
    place.marks["y"] = 2
    assert fires(trigger, 1) == [True]


def test_a_continuous_job_always_has_a_run_and_waits_longer_after_each_failure() -> None:
    def first(failures: int) -> int:
        trigger = Continuous(lambda: RecentRuns(False, NOON, failures))
        return next(second for second in range(4000) if trigger.due(NOON + second))

    assert not Continuous(lambda: RecentRuns(active=True)).due(NOON)
    assert [first(failures) for failures in (0, 1, 2, 3, 9, 50)] == [0, 10, 20, 40, 2560, 3600]


@pytest.fixture
def context(tmp_path: Path) -> tuple[Store, Settings]:
    return Store(tmp_path / "store.db"), Settings.here(tmp_path, environ={})


def keep(store: Store, job_id: int, **settings: Any) -> None:
    user = {"creator_user_name": "ada", "run_as_user_name": "ada"}
    job = {"job_id": job_id, **user, "settings": {"name": f"job {job_id}", **settings}}
    store.put("job", job_id, job)


def test_triggers_follow_the_settings_of_jobs(context: tuple[Store, Settings]) -> None:
    store, settings = context
    clock, fired, faults = [NOON], [], []  # type: ignore[var-annotated]

    def fire(job: Document, cause: str) -> None:
        fired.append((job["job_id"], cause))

    firing = TriggerScheduler(store, settings, fire, faults.append, clock=lambda: clock[0])
    hourly = {"quartz_cron_expression": "0 0 * * * ?", "timezone_id": "UTC"}
    landing = settings.volumes / "main/default/landing"
    log = settings.warehouse / "main/default/t/_delta_log"
    landing.mkdir(parents=True)
    log.mkdir(parents=True)
    keep(store, 1, schedule=hourly)
    keep(store, 2, schedule={**hourly, "pause_status": "PAUSED"})
    keep(store, 3, schedule={"quartz_cron_expression": "nonsense"})
    keep(store, 4, trigger={"file_arrival": {"url": "/Volumes/main/default/landing/"}})
    keep(store, 5, trigger={"table_update": {"table_names": ["main.default.T"]}})
    keep(store, 6, continuous={})
    firing.tick()
    assert fired == [(6, "CONTINUOUS")]
    run = {"run_id": 60, "job_id": 6, "settings": {}, "tasks": [], "run_name": "job 6", "end_time": 0}
    store.put("run", 60, {**run, "state": {"life_cycle_state": "RUNNING"}}, parent=6, active=True)
    (landing / "below").mkdir()
    (landing / "below" / "one.json").write_text("{}")
    (log / "00000000000000000000.json").write_text("{}")
    clock[0] += HOUR
    firing.tick()
    firing.tick()
    assert fired[1:] == [(1, "PERIODIC"), (4, "FILE_ARRIVAL"), (5, "TABLE")]
    assert len(faults) == 1 and "job 3" in faults[0]
    keep(store, 2, schedule=hourly)
    store.delete("job", 1)
    clock[0] += HOUR - 1
    firing.tick()
    clock[0] += 1
    firing.tick()
    assert fired[4:] == [(2, "PERIODIC")]


# if_status; jobs and results of runs in the order in which they end; after which of them job 9 starts.
COMPLETIONS = [
    ({}, [(1, "SUCCESS"), (2, "SUCCESS")], [2]),
    ({}, [(1, "SUCCESS"), (1, "SUCCESS"), (2, "FAILED"), (2, "SUCCESS"), (1, "SUCCESS")], [4]),
    ({"if_status": "SUCCESS"}, [(2, "SUCCESS_WITH_FAILURES"), (1, "SUCCESS"), (1, "SUCCESS")], [2]),
    ({"if_status": "FAILED"}, [(1, "FAILED"), (2, "SUCCESS"), (2, "TIMEDOUT")], [3]),
    ({"if_status": "DONE"}, [(1, "CANCELED"), (2, "FAILED"), (2, "SUCCESS"), (1, "SUCCESS")], [2, 4]),
]


@pytest.mark.parametrize(("status", "ends", "starts"), COMPLETIONS)
def test_a_job_starts_once_when_all_other_jobs_have_ended_as_configured(
    context: tuple[Store, Settings], status: dict[str, str], ends: list[tuple[int, str]], starts: list[int]
) -> None:
    store, settings = context
    fired, faults = [], []  # type: ignore[var-annotated]
    firing = TriggerScheduler(
        store, settings, lambda job, cause: fired.append((job["job_id"], cause)), faults.append
    )

    def put(number: int, job_id: int, **state: str) -> None:
        run = {"run_id": number, "job_id": job_id, "settings": {}, "tasks": [], "run_name": "a run"}
        active = "result_state" not in state
        store.put("run", number, {**run, "state": state, "end_time": number}, parent=job_id, active=active)

    # What ended before the trigger was there does not count.
    for job_id in (1, 2):
        put(job_id, job_id, life_cycle_state="TERMINATED", result_state=ends[0][1])
    monitored = [{"job_id": str(job_id), "workspace_id": "1"} for job_id in (1, 2)]
    keep(store, 9, trigger={"job_completion": {"jobs": monitored, **status}})
    firing.tick()
    counted = []
    for number, (job_id, result) in enumerate(ends, start=1):
        put(10 + number, job_id, life_cycle_state="RUNNING")
        firing.tick()
        put(10 + number, job_id, life_cycle_state="TERMINATED", result_state=result)
        firing.tick()
        firing.tick()
        counted += [number] * len(fired)
        assert set(fired) <= {(9, "JOB_COMPLETION")}
        fired.clear()
    assert (counted, faults) == (starts, [])


def test_jobs_start_after_the_clock_was_set_back(context: tuple[Store, Settings]) -> None:
    store, settings = context
    clock, fired = [NOON], []  # type: ignore[var-annotated]
    firing = TriggerScheduler(
        store, settings, lambda job, _: fired.append(job["job_id"]), lambda _: None, clock=lambda: clock[0]
    )
    landing = settings.volumes / "main/default/landing"
    landing.mkdir(parents=True)
    arrival = {"url": "/Volumes/main/default/landing/", "min_time_between_triggers_seconds": 600}
    keep(store, 1, schedule={"quartz_cron_expression": "0 0 * * * ?", "timezone_id": "UTC"})
    keep(store, 2, trigger={"periodic": {"interval": 30, "unit": "MINUTES"}})
    keep(store, 3, trigger={"file_arrival": arrival})
    keep(store, 4, continuous={})
    failed = {"life_cycle_state": "TERMINATED", "result_state": "FAILED"}

    def at(moment: float, file: str) -> list[int]:
        """The jobs that start; the run of the continuous one fails at once."""
        clock[0] = NOON + moment
        if not (landing / file).exists():
            (landing / file).touch()
        firing.tick()
        started = sorted(fired)
        fired.clear()
        if 4 in started:
            number = 40 + len(store.find("run"))
            run = {"run_id": number, "job_id": 4, "settings": {}, "tasks": [], "run_name": "job 4"}
            store.put("run", number, {**run, "state": failed, "end_time": int(clock[0] * 1000)}, parent=4)
        return started

    assert at(0, "a") == [4] and at(HOUR, "b") == [1, 2, 3, 4]
    # A step of some seconds starts nothing twice.
    assert at(HOUR - 2, "b") == [] and at(HOUR, "b") == []
    back = -30 * 24 * HOUR
    assert at(back + 60, "c") == [4]
    assert at(back + HOUR / 2 + 60, "d") == [2, 3, 4]
    assert at(back + HOUR, "d") == [1, 4]


@pytest.mark.parametrize(
    "url", ["/", "/Volumes/../../..", "file:///etc", "/etc", "/Volumes/main/default/out"]
)
def test_files_outside_of_the_workspace_trigger_nothing(context: tuple[Store, Settings], url: str) -> None:
    """Of a job that an earlier version accepted: its folder would be read at every tick."""
    store, settings = context
    faults: list[str] = []
    outside = settings.home.parent / "outside"
    outside.mkdir()
    link = settings.volumes / "main/default/out"
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    clock, fired = [NOON], []  # type: ignore[var-annotated]
    firing = TriggerScheduler(
        store, settings, lambda job, _: fired.append(job), faults.append, clock=lambda: clock[0]
    )
    keep(store, 1, trigger={"file_arrival": {"url": url}})
    firing.tick()
    (outside / "new.json").touch()
    clock[0] += HOUR
    firing.tick()
    assert not fired
    assert len(faults) == 1 and url in faults[0]


def test_when_jobs_start_is_reported(context: tuple[Store, Settings]) -> None:
    store, _ = context
    keep(store, 1, schedule={"quartz_cron_expression": "0 30 5 * * ?", "timezone_id": "Europe/Berlin"})
    keep(store, 2, trigger={"file_arrival": {"url": "/Volumes/a/b/c/"}, "pause_status": "PAUSED"})
    cron, files = scheduled_starts(store, datetime.fromtimestamp(NOON, timezone.utc))
    assert (cron.job, cron.when, cron.paused) == ("job 1", "0 30 5 * * ? (Europe/Berlin)", False)
    assert str(cron.at) == "2026-03-29 05:30:00+02:00"
    assert (files.when, files.paused, files.at) == ("files arrive in /Volumes/a/b/c/", True, None)


@pytest.mark.slow
def test_a_server_starts_what_is_due(root: Path) -> None:
    with running(root, "--with-schedules") as server:

        def runs(job_id: int) -> list[Any]:
            found = server.get("/api/2.2/jobs/runs/list", job_id=job_id)["runs"]
            return [run["trigger"] for run in found if run["state"].get("result_state") == "SUCCESS"]

        def change(job_id: int, **settings: Any) -> None:
            server.post("/api/2.2/jobs/update", {"job_id": job_id, "new_settings": settings})

        files, steady = server.job(only="print('files')"), server.job(only="print('steady')")
        landing = server.state / "volumes/main/default/landing"
        landing.mkdir(parents=True)
        change(files, trigger={"file_arrival": {"url": "/Volumes/main/default/landing/"}})
        change(steady, continuous={"pause_status": "UNPAUSED"})
        until(lambda: len(runs(steady)) >= 2)
        (landing / "new.json").write_text("{}")
        assert until(lambda: runs(files)) == ["FILE_ARRIVAL"]
        change(steady, continuous={"pause_status": "PAUSED"})
        assert set(runs(steady)) == {"CONTINUOUS"}


def test_without_a_request_a_server_starts_nothing_and_says_when_it_would(
    context: tuple[Store, Settings],
) -> None:
    from lakeward.cli.workspace import start_lines

    store, _ = context
    keep(store, 1, schedule={"quartz_cron_expression": "0 30 5 * * ?", "timezone_id": "UTC"})
    starts = scheduled_starts(store, datetime.fromtimestamp(NOON, timezone.utc))
    without, hint = start_lines(starts, False)
    assert without == "  starts     job 1: 0 30 5 * * ? (UTC), next 2026-03-29 05:30 UTC"
    assert "--with-schedules" in hint
    assert list(start_lines(starts, True)) == [without]


def test_texts_of_a_job_do_not_act_on_the_terminal() -> None:
    from lakeward.cli.workspace import start_lines

    name = "\x1b]0;title\x07\x1b[2J\rname"
    for job, when in ((name, "daily"), ("job", f"files arrive in {name}")):
        (line,) = start_lines([ScheduledStart(job, when, False, None)], True)
        assert line.isprintable() and "name" in line
    (line,) = start_lines([ScheduledStart("job", "any of " + "a.b.c, " * 20_000, False, None)], True)
    assert len(line) < 300
