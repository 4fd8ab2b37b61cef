"""The trash of a kind of record: what is in it is found by its id, and neither listed, run nor changed."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.databricks_shims.local_workspace import ApiError, missing
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, Store

ACTIVE = "ACTIVE"


@dataclass(frozen=True)
class Trash:
    """Records of a kind by `lifecycle_state`, which is `name` in the trash; `key` has their id."""

    kind: str
    noun: str
    name: str
    key: str = "id"

    def active_records(self, store: Store) -> list[Document]:
        """Return the records that are not in the trash."""
        return [each for each in store.find(self.kind) if each["lifecycle_state"] == ACTIVE]

    def find_record(self, call: ServerRequest) -> Document:
        """Return the record of the request's path. Raises ApiError where it does not exist."""
        found = call.store.get(self.kind, call.path_parameter)
        if found is None:
            raise missing(f"The {self.noun} '{call.path_parameter[:100]}'")
        return found

    def require_active(self, call: ServerRequest) -> Document:
        """Return the same; raises ApiError where it is in the trash, too."""
        found = self.find_record(call)
        if found["lifecycle_state"] != ACTIVE:
            message = f"The {self.noun} '{found[self.key]}' is in the trash."
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        return found

    def add(self, store: Store, record: Document) -> None:
        """Move a record to the trash."""
        store.put(self.kind, record[self.key], {**record, "lifecycle_state": self.name})
