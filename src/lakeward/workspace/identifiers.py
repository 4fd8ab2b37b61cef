"""Identifiers of the compute that every local workspace has."""

from __future__ import annotations

LOCAL_CLUSTER = "lakeward-local"
WAREHOUSE_ID = "1a6e3a4d00000001"
