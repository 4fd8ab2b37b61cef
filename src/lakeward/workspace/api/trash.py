"""The trash of a kind of record: what is in it is found by its id, and neither listed, run nor changed."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, Store

ACTIVE = "ACTIVE"


@dataclass(frozen=True)
class Trash:
    """Records of a kind by `lifecycle_state`. Those in the trash have the state `name`."""

    kind: str
    noun: str
    name: str

    def active_records(self, store: Store) -> list[Document]:
        """Return the records that are not in the trash."""
        return [each for each in store.find(self.kind) if each["lifecycle_state"] == ACTIVE]

    def find_record(self, call: ServerRequest) -> Document:
        """Return the record of the request's path. Raises ApiError where it does not exist."""
        found = call.store.get(self.kind, call.path_parameter)
        if found is None:
            message = f"The {self.noun} '{call.path_parameter}' does not exist."
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        return found

    def require_active(self, call: ServerRequest) -> Document:
        """Return the same; raises ApiError where it is in the trash, too."""
        found = self.find_record(call)
        if found["lifecycle_state"] != ACTIVE:
            raise ApiError(
                404, "RESOURCE_DOES_NOT_EXIST", f"The {self.noun} '{found['id']}' is in the trash."
            )
        return found

    def add(self, call: ServerRequest) -> None:
        """Move the record of the request's path to the trash."""
        record = self.require_active(call)
        call.store.put(self.kind, record["id"], {**record, "lifecycle_state": self.name})
