"""Writes the page: the document is embedded as JSON, and the page's own script shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write

_PLACE = "/*REPORT*/"


def write_page(report: Mapping[str, Any], path: Path) -> None:
    """Write a report as one HTML file that needs no network; the file is replaced atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, _template().replace(_PLACE, _embedded(report)))


def _embedded(report: Mapping[str, Any]) -> str:
    """Return JSON that no name can end the script element with.

    >>> _embedded({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(report, ensure_ascii=False, separators=(",", ":"), default=str)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # A lone surrogate cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _template() -> str:
    return resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
