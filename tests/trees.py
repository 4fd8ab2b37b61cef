"""Folders of small files that tests work on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

__all__ = ["write_files"]


def write_files(root: Path, files: Mapping[str, str]) -> Path:
    """Write texts, without their common indentation, by their names below `root`; gives `root`."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return root
