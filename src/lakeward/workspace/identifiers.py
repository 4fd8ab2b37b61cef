"""Identifiers of the compute that every local workspace has."""

from __future__ import annotations

LOCAL_CLUSTER = "lakeward-local"
CLUSTER_PREFIX = "1a6e"
"""The first digits of the last part of the ids of clusters that were created in local workspaces."""
WAREHOUSE_PREFIX = "1a6e3a4d"
"""The first digits of the ids of SQL warehouses that exist, or existed, in local workspaces."""
WAREHOUSE_ID = f"{WAREHOUSE_PREFIX}00000001"
