"""Schedules and triggers of jobs, and when a job starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lakeward.quartz_cron import next_times, parse_cron, time_zone

# Source: the SDK's description of a trigger on the completion of jobs.
MOST_MONITORED_JOBS = 10
_UNITS = {"MINUTES": "minute", "HOURS": "hour", "DAYS": "day", "WEEKS": "week"}


@dataclass(frozen=True)
class Timer:
    """A schedule or trigger of a job: its `kind`, its section, whether it is paused, and its settings."""

    kind: str
    section: str
    paused: bool
    settings: Mapping[str, Any]

    def next_times(self, after: datetime, count: int = 3) -> tuple[datetime, ...]:
        """Return when a schedule comes next; nothing for what no clock decides. Raises CronError."""
        if self.kind != "schedule":
            return ()
        cron = parse_cron(str(self.settings.get("quartz_cron_expression") or ""))
        return next_times(cron, time_zone(str(self.settings.get("timezone_id") or "UTC")), after, count)

    def __str__(self) -> str:
        """Return it in words."""
        settings = self.settings
        if self.kind == "schedule":
            return f"{settings.get('quartz_cron_expression')} ({settings.get('timezone_id')})"
        if self.kind == "file_arrival":
            return f"files arrive in {settings.get('url')}"
        if self.kind == "table_update":
            how = "all" if settings.get("condition") == "ALL_UPDATED" else "any"
            return f"{how} of {', '.join(map(str, settings.get('table_names') or ()))} change"
        if self.kind == "job_completion":
            jobs = ", ".join(str(each.get("job_id")) for each in settings.get("jobs") or ())
            return f"the jobs {jobs} have ended with {settings.get('if_status') or 'SUCCESS'}"
        if self.kind == "periodic":
            number, unit = settings.get("interval"), _UNITS.get(str(settings.get("unit")), "?")
            return f"every {number} {unit}{'s' if number != 1 else ''}"
        return "continuous"


def timers_of(job: Mapping[str, Any]) -> tuple[Timer, ...]:
    """Return the schedules and triggers of `job` (its resolved settings)."""
    return tuple(_timers(job))


def _timers(job: Mapping[str, Any]) -> Iterator[Timer]:
    schedule, trigger, continuous = (job.get(key) for key in ("schedule", "trigger", "continuous"))
    if schedule:
        yield Timer("schedule", "schedule", _is_paused(schedule), schedule)
    for kind in ("file_arrival", "table_update", "job_completion", "periodic"):
        if trigger and trigger.get(kind):
            yield Timer(kind, "trigger", _is_paused(trigger), trigger[kind])
    if continuous is not None:
        yield Timer("continuous", "continuous", _is_paused(continuous), continuous)


def _is_paused(settings: Mapping[str, Any]) -> bool:
    return settings.get("pause_status") == "PAUSED"
