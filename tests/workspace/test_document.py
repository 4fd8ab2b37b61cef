"""The page and the table of routes say the same, and no route is without a test."""

from __future__ import annotations

import json
from pathlib import Path

from lakeward.workspace.document import as_markdown
from lakeward.workspace.routes import CLIENTS, ROUTES
from tests.workspace.asked import FILE, declared

PAGE = Path(__file__).parents[2] / "docs" / "workspace.md"


def test_the_page_is_what_the_table_says() -> None:
    """`python -m tests.workspace.asked > docs/workspace.md` writes it."""
    assert PAGE.read_text(encoding="utf-8") == as_markdown(json.loads(FILE.read_text()))


def test_every_route_is_asked_for_by_a_suite() -> None:
    asked = set().union(*declared().values())
    names = {f"{route.method} {route.path}" for route in ROUTES}
    assert asked == names
    assert set(declared()) == set(CLIENTS)


def test_routes_are_declared_once() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)
