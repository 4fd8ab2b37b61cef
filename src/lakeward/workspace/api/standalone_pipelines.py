"""Pipelines of standalone materialized views and streaming tables, which clients can look at."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from lakeward.session import Settings
from lakeward.workspace.state.store import Document

if TYPE_CHECKING:
    from lakeward.sql import StandaloneTable

_UPDATES = 25


def find_standalone_pipeline(settings: Settings, pipeline_id: str) -> Document | None:
    """Return the answer of `pipelines.get` for a standalone table's pipeline; None for other pipelines."""
    # The server starts without the SQL front end.
    from lakeward.sql import find_standalone_table

    table = find_standalone_table(settings, pipeline_id)
    return None if table is None else _document(settings, table)


def standalone_pipelines(settings: Settings) -> Iterator[Document]:
    """Yield the pipelines of all standalone tables, as `pipelines.get` returns them."""
    from lakeward.sql import list_standalone_tables

    return (_document(settings, table) for table in list_standalone_tables(settings))


def standalone_events(settings: Settings, pipeline_id: str) -> list[Document] | None:
    """Return the events of a standalone table's newest updates, from old to new; None for other pipelines."""
    from lakeward.report import read_events
    from lakeward.sql import find_standalone_table

    table = find_standalone_table(settings, pipeline_id)
    if table is None:
        return None
    updates = read_events(table.folder(settings), _UPDATES).updates.values()
    return [event for events in updates for event in events]


def _document(settings: Settings, table: StandaloneTable) -> Document:
    catalog, schema, _ = table.name
    latest = table.latest
    updates = []
    if latest is not None and latest.update_id:
        updates = [{"update_id": latest.update_id, "state": latest.state, "creation_time": latest.ended}]
    failed = any(each["state"] == "FAILED" for each in updates)
    ended = int(datetime.fromisoformat(latest.ended).timestamp() * 1000) if latest is not None else 0
    return {
        "pipeline_id": table.pipeline,
        "name": table.pipeline,
        "creator_user_name": settings.user,
        "run_as_user_name": settings.user,
        "last_modified": ended,
        "state": "FAILED" if failed else "IDLE",
        "latest_updates": updates,
        "spec": {
            "id": table.pipeline,
            "name": table.pipeline,
            "catalog": catalog,
            "schema": schema,
            "serverless": True,
        },
    }
