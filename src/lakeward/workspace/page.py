"""The page at `/`: one file without anything from elsewhere."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["PAGE"]

PAGE = (files(__package__) / "page.html").read_text(encoding="utf-8")
