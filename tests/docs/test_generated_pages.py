"""Generated pages equal their sources; `make docs` writes them."""

from __future__ import annotations

import re

import pytest

from pages import DOCS, GENERATED

SAYS_GENERATED = re.compile(r"\b(?:is|are)\s+generated\b|\bMade of `")


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_a_generated_page_equals_its_source(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page == GENERATED[name](), "run `make docs`"


def test_pages_that_name_a_generator_are_generated() -> None:
    pages = {
        page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")
    }
    assert {name for name, text in pages.items() if SAYS_GENERATED.search(text)} - set(GENERATED) == set()
