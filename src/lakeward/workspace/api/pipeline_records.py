"""Pipelines that clients look at: those that were created, and those of standalone tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.session import Settings
from lakeward.update_states import UPDATE_ENDS
from lakeward.workspace.api.permissions import require
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, Store, time_text

if TYPE_CHECKING:
    from lakeward.sql import StandaloneTable

_STANDALONE_UPDATES = 25
_EPOCH = "1970-01-01T00:00:00+00:00"


@dataclass(frozen=True)
class StoredPipeline:
    """A pipeline that a client created. `body` is its record in the store."""

    store: Store
    body: Document

    @property
    def pipeline_id(self) -> str:
        """The id that clients give in paths."""
        return str(self.body["pipeline_id"])

    def to_json(self) -> Document:
        """Return the answer of `pipelines.get`."""
        updates = self.store.find("update", parent=self.pipeline_id, newest_first=True, limit=5)
        active = bool(updates) and updates[0]["state"] not in UPDATE_ENDS
        state = "RUNNING" if active else "FAILED" if updates and updates[0]["state"] == "FAILED" else "IDLE"
        # `wait_get_pipeline_idle` of clients prints it.
        cause = updates[0].get("failure") if state == "FAILED" else None
        return {
            **self.body,
            **({"cause": cause} if cause else {}),
            "name": self.body["spec"].get("name"),
            "state": state,
            "latest_updates": [
                {
                    "update_id": each["update_id"],
                    "state": each["state"],
                    "creation_time": time_text(each["creation_time"]),
                }
                for each in updates
            ],
        }

    def updates(self) -> list[Document]:
        """Return the updates, the newest first."""
        return self.store.find("update", parent=self.pipeline_id, newest_first=True)

    def find_update(self, update_id: str) -> Document | None:
        """Return an update of this pipeline."""
        update = self.store.get("update", update_id)
        return update if update is not None and update["pipeline_id"] == self.pipeline_id else None

    def events(self, *, newest_first: bool, limit: int = -1, offset: int = 0) -> list[Document]:
        """Return `limit` events from `offset` on; all of them without a limit."""
        return self.store.find(
            "event", parent=self.pipeline_id, newest_first=newest_first, limit=limit, offset=offset
        )


@dataclass(frozen=True)
class StandalonePipeline:
    """The pipeline of a standalone table: a statement makes each update, so none is active here."""

    settings: Settings
    table: StandaloneTable

    @property
    def pipeline_id(self) -> str:
        """The value of the table's property `pipelines.pipelineId`."""
        return self.table.pipeline

    def to_json(self) -> Document:
        """Return the answer of `pipelines.get`."""
        catalog, schema, _ = self.table.name
        latest, name = self.table.latest, self.pipeline_id
        updates = []
        if latest is not None and latest.update_id:
            updates = [{"update_id": latest.update_id, "state": latest.state, "creation_time": latest.ended}]
        failed = any(each["state"] == "FAILED" for each in updates)
        return {
            "pipeline_id": name,
            "name": name,
            "creator_user_name": self.settings.user,
            "run_as_user_name": self.settings.user,
            "last_modified": _milliseconds(latest.ended) if latest is not None else 0,
            "state": "FAILED" if failed else "IDLE",
            "latest_updates": updates,
            "spec": {"id": name, "name": name, "catalog": catalog, "schema": schema, "serverless": True},
        }

    def updates(self) -> list[Document]:
        """Return the newest updates that the event log has, the newest first."""
        return [self._update(*each) for each in self._events_by_update().items()][::-1]

    def find_update(self, update_id: str) -> Document | None:
        """Return an update of this pipeline."""
        return next((each for each in self.updates() if each["update_id"] == update_id), None)

    def events(self, *, newest_first: bool, limit: int = -1, offset: int = 0) -> list[Document]:
        """Return `limit` events of the newest updates from `offset` on; all of them without a limit."""
        found = [event for events in self._events_by_update().values() for event in events]
        return (found[::-1] if newest_first else found)[offset : offset + limit if limit >= 0 else None]

    def _update(self, update_id: str, events: list[Document]) -> Document:
        from lakeward.report import details_of

        details = {event["event_type"]: details_of(event) for event in events}
        return {
            "update_id": update_id,
            "pipeline_id": self.pipeline_id,
            "state": details.get("update_progress", {}).get("state", "QUEUED"),
            "cause": details.get("create_update", {}).get("cause", "API_CALL"),
            "creation_time": _milliseconds(events[0]["timestamp"]),
        }

    def _events_by_update(self) -> dict[str, list[Document]]:
        from lakeward.report import read_events

        return read_events(self.table.folder(self.settings), _STANDALONE_UPDATES).updates


def require_pipeline(call: ServerRequest, level: str) -> StoredPipeline | StandalonePipeline:
    """Return the pipeline of the request's path, where the user has this level on it."""
    # The server starts without the SQL front end.
    from lakeward.sql import find_standalone_table

    settings = call.environment.settings()
    table = find_standalone_table(settings, _path_id(call))
    return require_stored(call, level) if table is None else StandalonePipeline(settings, table)


def require_stored(call: ServerRequest, level: str) -> StoredPipeline:
    """Return the same for what clients can change: SQL statements alone change pipelines of tables."""
    pipeline_id = _path_id(call)
    pipeline = call.store.get("pipeline", pipeline_id)
    if pipeline is None:
        raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"The specified pipeline {pipeline_id} was not found.")
    require(call, "pipelines", pipeline_id, level)
    return StoredPipeline(call.store, pipeline)


def standalone_pipelines(settings: Settings) -> Iterator[StandalonePipeline]:
    """Yield the pipelines of all standalone tables."""
    from lakeward.sql import list_standalone_tables

    return (StandalonePipeline(settings, table) for table in list_standalone_tables(settings))


def _path_id(call: ServerRequest) -> str:
    return call.path_parameter.partition("/")[0]


def _milliseconds(moment: str) -> int:
    from lakeward.report import seconds_between

    return round((seconds_between(_EPOCH, moment) or 0) * 1000)
