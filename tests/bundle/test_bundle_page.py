"""docs/bundle.md and docs/reference-bundle.md are what the tables and the bundle of this repository say."""

from __future__ import annotations

from pathlib import Path

from lakeward.bundle import as_markdown, load, summarised, summary_markdown

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_tables_say() -> None:
    """`python -c "from lakeward.bundle import as_markdown as m; print(m(), end='')" > docs/bundle.md`."""
    assert (ROOT / "docs/bundle.md").read_text() == as_markdown()


def test_the_summaries_are_what_the_bundle_says() -> None:
    """`python -m pytest tests/bundle/test_bundle_page.py` shows what to write where they differ."""
    head = (
        "# The reference bundle, resolved\n\n"
        "Made of `databricks.yml` and `resources/`, for the user `ann@example.com`.\n\n"
    )
    sections = [
        summary_markdown(summarised(load(ROOT, target, user="ann@example.com", environ={})))
        for target in ("dev", "prod")
    ]
    assert (ROOT / "docs/reference-bundle.md").read_text() == head + "\n".join(sections)
