"""When a materialized view or streaming table is refreshed: the clauses SCHEDULE and TRIGGER ON UPDATE.

Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-alter-materialized-view
"""

from __future__ import annotations

import re

from lakeward.errors import SqlError
from lakeward.quartz_cron import CronError, parse_cron, time_zone
from lakeward.sql.token_cursor import TokenCursor, Unmatched

# The largest number of each unit. MINUTE is not documented, and has no largest number.
_LARGEST = {"MINUTE": None, "HOUR": 72, "DAY": 31, "WEEK": 8}
_PERIODS = tuple(f"{unit}{end}" for unit in _LARGEST for end in ("", "S"))
_INTERVAL_UNITS = tuple(f"{unit}{end}" for unit in ("SECOND", *_LARGEST) for end in ("", "S"))
# Zones of Java that are no regions.
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?[+-]\d{1,2}(?::?\d{2})?|Z")


def read_schedule(cursor: TokenCursor) -> None:
    """Read what follows SCHEDULE: `[REFRESH] EVERY 1 HOUR` or `[REFRESH] CRON '…' [AT TIME ZONE '…']`.

    Raises Unmatched, and SqlError for a value that no schedule has.
    """
    cursor.words("REFRESH")
    if cursor.one_of("EVERY", "CRON") == "EVERY":
        number = cursor.integer()
        _check_period(number, cursor.one_of(*_PERIODS))
        return
    _check_cron(cursor.string())
    if cursor.words("AT"):
        cursor.need("TIME", "ZONE")
        _check_zone(cursor.string())


def read_update_trigger(cursor: TokenCursor) -> None:
    """Read what follows TRIGGER ON: `UPDATE [AT MOST EVERY INTERVAL 1 HOUR]`. Raises Unmatched."""
    cursor.need("UPDATE")
    if not cursor.words("AT"):
        return
    cursor.need("MOST", "EVERY")
    cursor.need("INTERVAL")
    while True:
        is_text = cursor.next is not None and cursor.next.is_string
        if is_text:
            cursor.string()
        else:
            cursor.integer()
        unit = cursor.phrase(*_INTERVAL_UNITS)
        if unit is None and not is_text:
            raise Unmatched(*_INTERVAL_UNITS)
        if cursor.words("TO"):
            cursor.one_of(*_INTERVAL_UNITS)
        if cursor.next is None or not (cursor.next.is_string or cursor.next.text.isdigit()):
            return


def _check_period(number: int, unit: str) -> None:
    largest = _LARGEST[unit.removesuffix("S")]
    if number < 1 or (largest is not None and number > largest):
        upper = str(largest or "any number")
        raise SqlError(
            "SCHEDULE_PERIOD_INVALID",
            f"The schedule period for {unit} must be an integer value between 1 and {upper} (inclusive). "
            f"Received: {number}.",
            sql_state="22003",
        )


def _check_cron(expression: str) -> None:
    try:
        parse_cron(expression)
    except CronError as error:
        raise SqlError(
            "INVALID_CRON_EXPRESSION",
            f"The schedule `{expression}` is not a Quartz cron expression: {error}",
            sql_state="22023",
            next_step="Write six or seven fields, such as '0 0 * * * ?' for every full hour.",
        ) from None


def _check_zone(name: str) -> None:
    if _OFFSET.fullmatch(name):
        return
    try:
        time_zone(name)
    except CronError:
        raise SqlError(
            "INVALID_TIMEZONE",
            f"The timezone: {name} is invalid.",
            sql_state="22009",
            next_step="Write a region such as 'Europe/Vienna', or an offset such as '+02:00'.",
        ) from None
