"""docs/sessions.md is what the tables say."""

from __future__ import annotations

from pathlib import Path

from lakeward.session.document import as_markdown


def test_the_page_is_made_out_of_the_tables() -> None:
    """`python -c "from lakeward.session.document import as_markdown as m; print(m(), end='')"` writes it."""
    page = Path(__file__).resolve().parents[2] / "docs/sessions.md"
    assert page.read_text(encoding="utf-8") == as_markdown()
