"""The rows of the information schema that are kept beside the tables: rights, tags, keys, routines …"""

from __future__ import annotations

from lakeward.sql.information.relations import information_schema

__all__ = ["information_schema"]
