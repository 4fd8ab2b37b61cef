"""docs/notebooks.md is what the tables say."""

from __future__ import annotations

from pathlib import Path

from lakeward.notebooks import as_markdown


def test_the_page_is_generated() -> None:
    """`python -c "from lakeward.notebooks import as_markdown; print(as_markdown(), end='')"` writes it."""
    page = Path(__file__).resolve().parents[2] / "docs/notebooks.md"
    assert page.read_text(encoding="utf-8") == as_markdown()
