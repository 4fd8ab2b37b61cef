"""Quartz expressions: the examples of its own tutorial, zones, and a slow clock as the oracle."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.quartz_cron import CronError, next_times, parse_cron, time_zone

UTC = ZoneInfo("UTC")
START = datetime(2026, 1, 1, tzinfo=timezone.utc)  # a Thursday


def first(expression: str, after: datetime = START, zone: str = "UTC", count: int = 1) -> list[str]:
    times = next_times(parse_cron(expression), time_zone(zone), after, count)
    return [moment.strftime("%Y-%m-%d %H:%M:%S") for moment in times]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 12 * * ?", "2026-01-01 12:00:00"),
        ("0 15 10 ? * *", "2026-01-01 10:15:00"),
        ("0 0/5 14,18 * * ?", "2026-01-01 14:00:00"),
        ("0 10,44 14 ? 3 WED", "2026-03-04 14:10:00"),
        ("0 15 10 ? * MON-FRI", "2026-01-01 10:15:00"),
        ("0 15 10 ? * SAT-MON", "2026-01-03 10:15:00"),
        ("0 15 10 15 * ?", "2026-01-15 10:15:00"),
        ("0 15 10 L * ?", "2026-01-31 10:15:00"),
        ("0 15 10 L-2 * ?", "2026-01-29 10:15:00"),
        ("0 15 10 LW * ?", "2026-01-30 10:15:00"),
        ("0 15 10 ? * 6L", "2026-01-30 10:15:00"),
        ("0 15 10 ? * 6#3", "2026-01-16 10:15:00"),
        ("0 15 10 ? * L", "2026-01-03 10:15:00"),
        ("0 15 10 15W 8 ?", "2026-08-14 10:15:00"),
        ("0 15 10 ? JAN 2-6 2028", "2028-01-03 10:15:00"),
        ("0 0 0 29 2 ?", "2028-02-29 00:00:00"),
        ("*/20 * * * * ?", "2026-01-01 00:00:20"),
    ],
)
def test_the_examples_of_the_tutorial(expression: str, expected: str) -> None:
    assert first(expression) == [expected]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("30 5 * * *", "five"),
        ("0 30 5 * * *", "has to be `?`"),
        ("0 30 5 ? * ?", "has to be `?`"),
        ("0 61 5 * * ?", "not a value of minutes"),
        # Were 0 taken, it would be the last one of the month.
        *((f"0 0 5 ? * {day}#{number}", "1 to 5") for day in ("2", "MON") for number in (0, 6, 9)),
        ("0 0 5 ? * FRY", "SUN to SAT"),
        ("0 0/0 5 * * ?", "step"),
        ("", "0 fields"),
    ],
)
def test_what_is_no_expression_says_which_field(expression: str, message: str) -> None:
    with pytest.raises(CronError, match=message.replace("?", r"\?")):
        parse_cron(expression)


def test_a_zone_that_does_not_exist_is_refused() -> None:
    with pytest.raises(CronError, match="time zone `Mars/Base`"):
        time_zone("Mars/Base")


def test_a_time_that_summer_time_leaves_out_does_not_fire_and_one_that_comes_twice_fires_once() -> None:
    spring = datetime(2026, 3, 28, 12, tzinfo=timezone.utc)
    assert first("0 30 2 * * ?", spring, "Europe/Vienna", 2) == ["2026-03-30 02:30:00", "2026-03-31 02:30:00"]
    autumn = datetime(2026, 10, 24, 12, tzinfo=timezone.utc)
    assert first("0 30 2 * * ?", autumn, "Europe/Vienna", 2) == ["2026-10-25 02:30:00", "2026-10-26 02:30:00"]


def test_an_expression_that_has_ended_never_comes() -> None:
    assert first("0 0 0 1 1 ? 2020") == []


FIELD = st.sampled_from(["*", "0", "7", "0/6", "3-9", "22-2", "1,5,9"])
DAYS = st.sampled_from([("*", "?"), ("?", "2-6"), ("1/3", "?"), ("?", "SUN,WED")])


@given(FIELD, FIELD, DAYS, st.integers(0, 3 * 10**8))
def test_it_fires_whenever_a_clock_that_tries_every_minute_does(
    minutes: str, hours: str, days: tuple[str, str], offset: int
) -> None:
    cron = parse_cron(f"0 {minutes} {hours} {days[0]} * {days[1]}")
    after = (START + timedelta(seconds=offset)).replace(second=0)
    fires = next_times(cron, UTC, after, 3)
    assert list(fires) == sorted(set(fires))
    minute = after
    while (minute := minute + timedelta(minutes=1)) < min(fires[0], after + timedelta(days=2)):
        assert not (minute.minute in cron.minutes and minute.hour in cron.hours and _day(cron, minute))
    assert all(f.minute in cron.minutes and f.hour in cron.hours and _day(cron, f) for f in fires)


def _day(cron: object, moment: datetime) -> bool:
    return moment.day in cron.days(moment.year, moment.month)  # type: ignore[attr-defined]
