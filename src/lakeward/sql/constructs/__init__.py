"""The table of constructs: everything that the front end knows about Databricks SQL, declared once."""

from __future__ import annotations

from lakeward.sql.construct import Construct
from lakeward.sql.constructs import (
    catalogs,
    copy_into,
    create_table,
    detail,
    expressions,
    functions,
    governance,
    inserts,
    keys,
    policies,
    queries,
    tables,
    volumes,
)

__all__ = ["CONSTRUCTS"]

CONSTRUCTS: tuple[Construct, ...] = (
    *catalogs.CONSTRUCTS,
    *volumes.CONSTRUCTS,
    *expressions.CONSTRUCTS,
    *queries.CONSTRUCTS,
    *tables.CONSTRUCTS,
    *detail.CONSTRUCTS,
    *create_table.CONSTRUCTS,
    *keys.CONSTRUCTS,
    *inserts.CONSTRUCTS,
    *copy_into.CONSTRUCTS,
    *functions.CONSTRUCTS,
    *governance.CONSTRUCTS,
    *policies.CONSTRUCTS,
)
