"""The page of constructs says what the table says."""

from __future__ import annotations

from pathlib import Path

from lakeward.sql import CONSTRUCTS, as_markdown

PAGE = Path(__file__).parents[2] / "docs" / "sql.md"


def test_the_page_is_the_table() -> None:
    """`python -c "from lakeward.sql import as_markdown as m; print(m(), end='')" > docs/sql.md` writes it."""
    assert PAGE.read_text(encoding="utf-8") == as_markdown()


def test_every_construct_names_a_test_that_is_there() -> None:
    root = PAGE.parents[1]
    assert all((root / c.test.partition("::")[0]).is_file() for c in CONSTRUCTS)


def test_names_are_unique() -> None:
    assert len({c.name for c in CONSTRUCTS}) == len(CONSTRUCTS)
