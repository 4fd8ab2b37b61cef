"""Date patterns read what Spark's to_timestamp reads: fields in several places, and names of time zones."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lakeward.autoloader.conversion.date_patterns import EPOCH, DatePattern
from tests.autoloader.reader_harness import rows_of, schema_of

pytestmark = pytest.mark.rule("1.5")


def parsed(pattern: str, text: str) -> str | None:
    micros = DatePattern(pattern).micros(text, timezone.utc)
    return None if micros is None else (EPOCH + timedelta(microseconds=micros)).isoformat()


# The times are those of Spark 4.2.
@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss[XXX][Z]", "2024-07-01T10:00:00+0200", "2024-07-01T08:00:00"),
        ("yyyy-MM-dd'T'HH:mm:ss[XXX][Z]", "2024-07-01T10:00:00+02:00", "2024-07-01T08:00:00"),
        ("yyyy-MM-dd'T'HH:mm:ss[XXX][Z]", "2024-07-01T10:00:00", "2024-07-01T10:00:00"),
        ("yyyy-MM-dd'T'HH:mm:ss[.SSSSSS][.SSS]", "2024-07-01T10:00:00.123", "2024-07-01T10:00:00.123000"),
        ("yyyy-MM-dd'T'HH:mm:ss[.SSSSSS][.SSS]", "2024-07-01T10:00:00.123456", "2024-07-01T10:00:00.123456"),
        ("yyyy-yyyy-MM", "2024-2024-01", "2024-01-01T00:00:00"),
        ("yyyy-yyyy-MM", "2024-2023-01", None),
        ("yyyy-[MM", "2024-02", "2024-02-01T00:00:00"),
        ("yyyy-MM[[", "2024-02", "2024-02-01T00:00:00"),
    ],
)
def test_a_field_may_be_in_several_places(pattern: str, text: str, expected: str | None) -> None:
    assert parsed(pattern, text) == (None if expected is None else f"{expected}+00:00")


@pytest.mark.parametrize(
    ("zone", "winter", "summer"),
    [
        ("PST", 18, 17),
        ("PDT", 18, 17),
        ("MST", 17, 16),
        ("CST", 16, 15),
        ("EST", 15, 14),
        ("ET", 15, 14),
        ("CET", 9, 8),
        ("CEST", 9, 8),
        ("BST", 10, 9),
        ("EET", 8, 7),
        ("MSK", 7, 7),
        ("JST", 1, 1),
        ("AKDT", 19, 18),
        ("HST", 20, 20),
        ("UTC", 10, 10),
        ("GMT", 10, 10),
        ("+02:00", 8, 8),
        ("Europe/Paris", 9, 8),
    ],
)
def test_names_of_time_zones_are_those_of_regions(zone: str, winter: int, summer: int) -> None:
    for month, hour in ((1, winter), (7, summer)):
        at = datetime(2024, month, 1, hour, tzinfo=timezone.utc)
        assert parsed("yyyy-MM-dd HH:mm:ss z", f"2024-{month:02}-01 10:00:00 {zone}") == at.isoformat()


@pytest.mark.parametrize(("letters", "zone"), [("z", "XQZ"), ("VV", "Mars/Phobos"), ("X", "+99")])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_text_with_an_unknown_time_zone_is_rescued(
    tmp_path: Path, form: str, letters: str, zone: str
) -> None:
    text, path = f"2024-01-01 10:00:00 {zone}", tmp_path / f"a.{form}"
    path.write_text(f"t\n{text}\n" if form == "csv" else f'{{"t": "{text}"}}')
    options: dict[str, Any] = {"header": True} if form == "csv" else {}
    pattern = f"yyyy-MM-dd HH:mm:ss {letters}"
    data = schema_of(t="timestamp")
    (row,) = rows_of([path], data, rescued="r", cf_format=form, timestampFormat=pattern, **options)
    assert row["t"] is None
    assert text in row["r"]


def test_a_pattern_that_closes_a_section_it_has_not_opened_is_invalid() -> None:
    with pytest.raises(ValueError, match=r"`\[` before each `\]`"):
        DatePattern("yyyy-MM]")
