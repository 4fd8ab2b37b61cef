"""The table of constructs: tests that exist, and unique names."""

from __future__ import annotations

from pathlib import Path

from lakeward.sql import CONSTRUCTS

ROOT = Path(__file__).parents[2]


def test_every_construct_names_a_test_that_is_there() -> None:
    assert all((ROOT / c.test.partition("::")[0]).is_file() for c in CONSTRUCTS)


def test_names_are_unique() -> None:
    assert len({c.name for c in CONSTRUCTS}) == len(CONSTRUCTS)
