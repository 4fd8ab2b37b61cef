"""Rules on when jobs start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.rules.rule import Breach
from lakeward.bundle.schedules import MOST_MONITORED_JOBS, timers_of
from lakeward.quartz_cron import CronError, next_times, parse_cron, time_zone


def schedules(bundle: Bundle) -> Iterator[Breach]:
    """Yield invalid schedules, and those without a next run."""
    from datetime import datetime, timezone

    for key, job in bundle.jobs.items():
        schedule = job.get("schedule")
        if not schedule:
            continue
        where = ("resources", "jobs", key, "schedule")
        field = "quartz_cron_expression"
        cron = zone = None
        try:
            cron = parse_cron(str(schedule.get(field) or ""))
        except CronError as error:
            yield (*where, field), f"`{schedule.get(field)}` is not a Quartz expression: {error}"
        try:
            zone = time_zone(str(schedule.get("timezone_id") or ""))
        except CronError as error:
            yield (*where, "timezone_id"), f"the schedule of the job {key} cannot be read: {error}"
        if (
            cron is not None
            and zone is not None
            and not next_times(cron, zone, datetime.now(timezone.utc), 1)
        ):
            yield (*where, field), f"`{schedule[field]}` has no next run."


def triggers(bundle: Bundle) -> Iterator[Breach]:
    """Yield triggers with settings that the platform refuses."""
    for key, job in bundle.jobs.items():
        trigger = job.get("trigger") or {}
        where = ("resources", "jobs", key, "trigger")
        arrival, update = trigger.get("file_arrival"), trigger.get("table_update") or trigger.get("table")
        if arrival is not None and not str(arrival.get("url") or "").endswith("/"):
            yield (*where, "file_arrival", "url"), f"the URL `{arrival.get('url')}` does not end with `/`."
        if update is not None and not update.get("table_names"):
            yield (*where, "table_update"), f"the table trigger of the job {key} names no tables."
        completion = trigger.get("job_completion")
        monitored = len(completion.get("jobs") or ()) if completion is not None else 1
        if not 0 < monitored <= MOST_MONITORED_JOBS:
            yield (
                (*where, "job_completion", "jobs"),
                f"the trigger of the job {key} waits for {monitored} jobs; it is 1 to {MOST_MONITORED_JOBS}.",
            )
        for kind, settings in (("file_arrival", arrival), ("table_update", update)):
            for name, seconds in _short_times(settings or {}):
                yield (*where, kind, name), f"{name} is {seconds}; it is 60 at least."


def _short_times(settings: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for name in ("min_time_between_triggers_seconds", "wait_after_last_change_seconds"):
        seconds = settings.get(name)
        if isinstance(seconds, int) and 0 < seconds < 60:
            yield name, seconds


def several_timers(bundle: Bundle) -> Iterator[Breach]:
    """Yield jobs with more than one of schedule, trigger and continuous."""
    for key, job in bundle.jobs.items():
        found = [timer.section for timer in timers_of(job)]
        if len(found) > 1:
            yield ("resources", "jobs", key, found[1]), f"the job {key} has {' and '.join(found)}."
