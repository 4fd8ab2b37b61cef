"""CSV as RFC 4180 has it; Python's reader is the oracle."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from lakeward.cli.results import csv_line


def test_null_is_empty_and_an_empty_string_is_quoted() -> None:
    assert csv_line(["a", None, "", "b,c"]) == 'a,,"","b,c"\n'


# Python's own reader refuses NUL before 3.11.
WRITABLE = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))


@given(st.lists(st.lists(WRITABLE, min_size=1, max_size=4)))
def test_what_is_written_is_read_back(rows: list[list[str]]) -> None:
    text = "".join(map(csv_line, rows))
    assert list(csv.reader(io.StringIO(text, newline=""))) == rows
