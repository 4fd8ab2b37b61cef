"""The table of constructs: one module per area with grammar, commands and their effects."""

from __future__ import annotations

from lakeward.sql.construct import Construct
from lakeward.sql.constructs import (
    catalogs,
    clone,
    copy_into,
    create_table,
    event_log,  # noqa: F401  # registers a function
    expressions,
    functions,
    governance,
    inserts,
    keys,
    materialized_views,
    policies,
    python_functions,
    queries,
    table_descriptions,
    tables,
    temporary_tables,
    transactions,
    volumes,
)

# Statements are tried in this order; docs/sql.md has one section per run of equal areas.
CONSTRUCTS: tuple[Construct, ...] = (
    *catalogs.CONSTRUCTS,
    *volumes.CONSTRUCTS,
    *expressions.CONSTRUCTS,
    *queries.CONSTRUCTS,
    *transactions.CONSTRUCTS,
    *tables.CONSTRUCTS,
    *clone.CONSTRUCTS,
    *table_descriptions.CONSTRUCTS,
    *temporary_tables.CONSTRUCTS,
    *materialized_views.CONSTRUCTS,
    *create_table.CONSTRUCTS,
    *keys.CONSTRUCTS,
    *inserts.CONSTRUCTS,
    *copy_into.CONSTRUCTS,
    *functions.CONSTRUCTS,
    *python_functions.CONSTRUCTS,
    *governance.CONSTRUCTS,
    *policies.CONSTRUCTS,
)
