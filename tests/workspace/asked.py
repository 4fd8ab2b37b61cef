"""Which client's suite asks for which routes: the source of the column in docs/workspace.md."""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("asked.json")


def declared() -> dict[str, set[str]]:
    return {client: set(routes) for client, routes in json.loads(FILE.read_text()).items()}
