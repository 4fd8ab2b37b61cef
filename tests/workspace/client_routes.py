"""Which suite asks for which routes: the source of the columns in docs/workspace.md.

A suite is named after its client, or `client/part` where a client has several.
"""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("client_routes.json")


def declared() -> dict[str, set[str]]:
    """Routes by suite."""
    return {suite: set(routes) for suite, routes in json.loads(FILE.read_text()).items()}


def update(suite: str, routes: set[str]) -> None:
    """Declare the routes of a suite."""
    known = {**json.loads(FILE.read_text()), suite: sorted(routes)}
    FILE.write_text(json.dumps(known, indent=2) + "\n")


def by_client() -> dict[str, set[str]]:
    """Routes by client."""
    found: dict[str, set[str]] = {}
    for suite, routes in declared().items():
        found.setdefault(suite.partition("/")[0], set()).update(routes)
    return found
