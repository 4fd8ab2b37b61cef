"""The views of every catalog's information schema; `jvm/InformationSchema.java` fills them."""

from __future__ import annotations

__all__ = ["INFORMATION_SCHEMA"]

INFORMATION_SCHEMA = ("columns", "schemata", "tables", "views")
