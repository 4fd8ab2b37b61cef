"""Writes the pages: the document is embedded as JSON, and the page's own script shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from lakeward.atomic_files import atomic_write

Kind = Literal["pipeline", "run"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_PLACE = "/*REPORT*/"
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>Report</title>
<style>
{style}</style>
</head>
<body>
{body}<script type="application/json" id="report">{place}</script>
<script>
{script}</script>
</body>
</html>
"""


def write_page(report: Mapping[str, Any], path: Path, kind: Kind = "pipeline") -> None:
    """Write a report as one HTML file that needs no network; the file is replaced atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, _template(kind).replace(_PLACE, _embed(report)))


def embedded_size(value: object) -> int:
    """Return the bytes that a value takes in the page."""
    return len(_embed(value).encode())


def _embed(report: object) -> str:
    """Return JSON that no name can end the script element with.

    >>> _embed({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(report, ensure_ascii=False, separators=(",", ":"), default=str)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # A lone surrogate cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _template(kind: Kind) -> str:
    folder = resources.files(__package__).joinpath("templates")

    def read(name: str) -> str:
        return folder.joinpath(name).read_text(encoding="utf-8")

    return _PAGE.format(
        policy=_POLICY,
        style=read("style.css"),
        body=read(f"{kind}.html"),
        place=_PLACE,
        script=read("shared.js") + read(f"{kind}.js"),
    )
