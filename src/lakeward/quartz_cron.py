"""Quartz cron expressions and when they fire."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MONTHS = {name.upper(): number for number, name in enumerate(calendar.month_abbr) if number}
_DAYS = {name: number for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"), 1)}
# Name, smallest and largest value, and names of values.
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("seconds", 0, 59, {}),
    ("minutes", 0, 59, {}),
    ("hours", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of week", 1, 7, _DAYS),
    ("year", 1970, 2099, {}),
)
# An expression that fires in no year from now on would be looked for until the calendar ends.
_HORIZON_DAYS = 366 * 9

_Days = Callable[[int, int], frozenset[int]]


class CronError(ValueError):
    """An invalid Quartz expression; the message names the field."""


@dataclass(frozen=True)
class Cron:
    """A parsed expression: sets of values; `days(year, month)` are the days of a month on which it fires."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    years: frozenset[int]
    days: _Days

    def times_of(self, year: int, month: int, day: int) -> Iterator[time]:
        """Yield the times of day at which it fires on that day, in their order."""
        if year not in self.years or month not in self.months or day not in self.days(year, month):
            return
        for hour in self.hours:
            for minute in self.minutes:
                for second in self.seconds:
                    yield time(hour, minute, second)


def parse_cron(expression: str) -> Cron:
    """Return what `expression` means. Raises CronError when it is not Quartz's.

    >>> parse_cron("0 30 5 * * ?").hours
    (5,)
    """
    fields = expression.upper().split()
    if len(fields) not in (6, 7):
        hint = " Unix cron has five; Quartz puts seconds first." if len(fields) == 5 else ""
        raise CronError(f"it has {len(fields)} fields, and Quartz wants six or seven.{hint}")
    seconds, minutes, hours, of_month, months, of_week = fields[:6]
    if (of_month == "?") == (of_week == "?"):
        raise CronError("exactly one of day of month and day of week has to be `?`.")
    years = fields[6] if len(fields) == 7 else "*"
    return Cron(
        seconds=tuple(sorted(_values(seconds, 0))),
        minutes=tuple(sorted(_values(minutes, 1))),
        hours=tuple(sorted(_values(hours, 2))),
        months=_values(months, 4),
        years=_values(years, 6),
        days=_of_month(of_month) if of_week == "?" else _of_week(of_week),
    )


def time_zone(name: str) -> ZoneInfo:
    """Return the zone `name` (`Europe/Vienna`). Raises CronError for an unknown zone."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CronError(f"unknown time zone `{name}`.") from None


def next_times(cron: Cron, zone: ZoneInfo, after: datetime, count: int = 3) -> tuple[datetime, ...]:
    """Return the next `count` times after `after` at which `cron` fires, in `zone`; fewer if it ends.

    A time that the change to summer time leaves out does not fire; one that comes twice fires once.
    """
    local = after.astimezone(zone)
    found: list[datetime] = []
    day = local.date()
    # No zone turns its clocks back by more: what comes before this is over, whatever the zone.
    over = local.replace(tzinfo=None) - timedelta(hours=3)
    for _ in range(_HORIZON_DAYS):
        for moment in cron.times_of(day.year, day.month, day.day):
            if datetime.combine(day, moment) < over:
                continue
            at = datetime.combine(day, moment, zone)
            if at.timestamp() <= after.timestamp():
                continue
            exists = at.astimezone(timezone.utc).astimezone(zone).replace(tzinfo=None) == at.replace(
                tzinfo=None
            )
            if exists:
                found.append(at)
                if len(found) == count:
                    return tuple(found)
        day += timedelta(days=1)
        if day.year > max(cron.years):
            break
    return tuple(found)


def _values(text: str, at: int) -> frozenset[int]:
    name, low, high, _ = _FIELDS[at]
    values: set[int] = set()
    for part in text.split(","):
        body, slash, step = part.partition("/")
        if slash and (not step.isdigit() or int(step) == 0):
            raise CronError(f"`{part}` is not a value of {name}: the step is a number from 1 on.")
        first, dash, last = body.partition("-")
        if body in ("*", "") and (body or slash):
            begin, end = low, high
        else:
            begin = _number(first, at)
            end = _number(last, at) if dash else high if slash else begin
        span = (
            list(range(begin, end + 1)) if begin <= end else [*range(begin, high + 1), *range(low, end + 1)]
        )
        values.update(span[:: int(step) if slash else 1])
    return frozenset(values)


def _number(text: str, at: int) -> int:
    name, low, high, names = _FIELDS[at]
    value = names.get(text, int(text) if text.isdigit() else None)
    if value is None or not low <= value <= high:
        known = f", or {next(iter(names))} to {list(names)[-1]}" if names else ""
        raise CronError(f"`{text}` is not a value of {name}: {low} to {high}{known}.")
    return value


def _of_month(text: str) -> _Days:
    last = re.fullmatch(r"L(?:-(\d+))?(W)?", text)
    near = re.fullmatch(r"(\d+)W", text)
    if last:
        back, weekday = int(last[1] or 0), bool(last[2])
        return lambda year, month: _single(year, month, _length(year, month) - back, weekday=weekday)
    if near:
        day = _number(near[1], 3)
        return lambda year, month: _single(year, month, min(day, _length(year, month)), weekday=True)
    values = _values(text, 3)
    return lambda _year, _month: values


def _of_week(text: str) -> _Days:
    last = re.fullmatch(r"([A-Z]{3}|\d)L", text)
    nth = re.fullmatch(r"([A-Z]{3}|\d)#(\d)", text)
    if nth and not 1 <= int(nth[2]) <= 5:
        raise CronError(f"`{text}` is not a value of day of week: the number after # is 1 to 5.")
    if last or nth:
        wanted = _number((last or nth)[1], 5)  # type: ignore[index]  # one of them matched
        which = -1 if last else int(nth[2]) - 1  # type: ignore[index]
        return lambda year, month: _one_of(_weekdays(year, month, frozenset({wanted})), which)
    values = frozenset({7}) if text == "L" else _values(text, 5)
    return lambda year, month: frozenset(_weekdays(year, month, values))


def _one_of(days: list[int], which: int) -> frozenset[int]:
    return frozenset(days[which:][:1]) if -len(days) <= which < len(days) else frozenset()


def _weekdays(year: int, month: int, values: frozenset[int]) -> list[int]:
    first = calendar.weekday(year, month, 1)  # Monday is 0; Quartz's Sunday is 1
    return [day for day in range(1, _length(year, month) + 1) if (first + day) % 7 + 1 in values]


def _single(year: int, month: int, day: int, *, weekday: bool) -> frozenset[int]:
    if day < 1:
        return frozenset()
    if weekday:
        of_week = calendar.weekday(year, month, day)
        shift = {5: -1 if day > 1 else 2, 6: 1 if day < _length(year, month) else -2}.get(of_week, 0)
        day += shift
    return frozenset({day})


def _length(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]
