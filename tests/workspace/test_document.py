"""The page and the table of routes say the same, and no route is without a test."""

from __future__ import annotations

from lakeward.workspace.http.route_table import CLIENTS, ROUTES
from tests.workspace.client_routes import by_client


def test_every_route_is_called_by_a_suite() -> None:
    requested = set().union(*by_client().values())
    names = {f"{route.method} {route.path}" for route in ROUTES}
    assert requested == names
    assert set(by_client()) == set(CLIENTS)


def test_routes_are_declared_once() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)
