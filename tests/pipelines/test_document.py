"""docs/pipeline-sources.md is what the tables say."""

from __future__ import annotations

from pathlib import Path

from lakeward.pipelines import sources_as_markdown as as_markdown


def test_the_page_is_generated() -> None:
    """`python -c "from lakeward.pipelines import sources_as_markdown as m; print(m(), end='')"` writes it."""
    page = Path(__file__).resolve().parents[2] / "docs/pipeline-sources.md"
    assert page.read_text(encoding="utf-8") == as_markdown()
