"""Which client's suite asks for which routes: the source of the columns in docs/workspace.md."""

from __future__ import annotations

import json
import sys
from pathlib import Path

FILE = Path(__file__).with_name("asked.json")


def declared() -> dict[str, set[str]]:
    return {client: set(routes) for client, routes in json.loads(FILE.read_text()).items()}


if __name__ == "__main__":
    from lakeward.workspace.document import as_markdown

    sys.stdout.write(as_markdown(json.loads(FILE.read_text())))
