"""Functions and registered models of Unity Catalog, as records below a schema that exists."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    Route,
    catalog_handlers,
    check_name,
    missing,
    paginate,
)
from lakeward.workspace.api.fields import Types, read_fields, types_of
from lakeward.workspace.api.securables import forget, move_grants
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, now

_PARTS = ("catalog_name", "schema_name", "name")


@dataclass(frozen=True)
class SchemaRecords:
    """The records of one kind below schemas.

    Attributes:
        kind: Kind of the object; that of the documents in the store begins with `uc_`.
        items: Field of a list answer.
        fields: The fields of a new record, of which the three parts of its name are required.
        wrapper: Field of the request with a new record, "" for the request itself.
        of_one_schema: Whether a list is that of one schema, which the request has to name.
    """

    kind: str
    items: str
    fields: Types
    wrapper: str = ""
    of_one_schema: bool = False

    def list(self, call: ServerRequest) -> Document:
        """List the records that were created through this API, of one schema where one is named."""
        if self.of_one_schema:
            names = [catalog_handlers.checked_name(call.required(name)) for name in _PARTS[:2]]
            catalog_handlers.require_schema(call, *names)
        return paginate(call, self._named(call), self.items, default=100)

    def create(self, call: ServerRequest) -> Document:
        """Keep a new record; sessions do not see it."""
        given = call.body
        if self.wrapper:
            given = read_fields(given, {self.wrapper: dict}, required=[self.wrapper])[self.wrapper]
        body = read_fields(given, self.fields, required=_PARTS)
        names = [str(body[name]).lower() for name in _PARTS]
        for name in names:
            check_name(name)
        catalog_handlers.require_changeable_schema(call, *names[:2])
        full_name = ".".join(names)
        self._refuse_duplicate(call, full_name)
        made = {
            **body,
            **dict(zip(_PARTS, names, strict=True)),
            "full_name": full_name,
            "owner": call.caller,
            "created_at": now(),
            "created_by": call.caller,
            "updated_at": now(),
            "updated_by": call.caller,
        }
        call.store.put(self._stored, full_name, made)
        return made

    def get(self, call: ServerRequest) -> Document:
        """Return one record."""
        found = call.store.get(self._stored, call.path_parameter.lower())
        if found is None:
            raise missing(f"{self.kind.capitalize()} '{call.path_parameter}'")
        return found

    def update(self, call: ServerRequest) -> Document:
        """Change the comment, the owner or the name of a record."""
        found = self.get(call)
        given = read_fields(call.body, {"comment": str, "owner": str})
        given.update(updated_at=now(), updated_by=call.caller)
        name = read_fields(call.body, {"new_name": str}).get("new_name", "").lower()
        if name and name != found["name"]:
            return self._rename(call, {**found, **given}, name)
        return call.store.change(self._stored, found["full_name"], lambda body: body.update(given)) or found

    def delete(self, call: ServerRequest) -> None:
        """Remove a record."""
        full_name = self.get(call)["full_name"]
        # As in RecordKind.delete, the record is deleted last.
        forget(call, self.kind, full_name)
        call.store.delete(self._stored, full_name)

    @property
    def _stored(self) -> str:
        return f"uc_{self.kind}"

    def _rename(self, call: ServerRequest, body: Document, name: str) -> Document:
        check_name(name)
        old, full_name = body["full_name"], f"{body['catalog_name']}.{body['schema_name']}.{name}"
        self._refuse_duplicate(call, full_name)
        renamed = {**body, "name": name, "full_name": full_name}
        call.store.put(self._stored, full_name, renamed)
        # The old record is deleted last: a crash before that leaves both.
        move_grants(call, self.kind, old, full_name)
        call.store.delete(self._stored, old)
        forget(call, self.kind, old)
        return renamed

    def _refuse_duplicate(self, call: ServerRequest, full_name: str) -> None:
        if call.store.get(self._stored, full_name) is not None:
            message = f"{self.kind.capitalize()} '{full_name}' already exists."
            raise ApiError(400, "RESOURCE_ALREADY_EXISTS", message)

    def _named(self, call: ServerRequest) -> builtins.list[Document]:
        wanted = {name: call.query[name].lower() for name in _PARTS[:2] if call.query.get(name)}
        return [
            each
            for each in call.store.find(self._stored)
            if all(each[name] == value for name, value in wanted.items())
        ]


MODELS = SchemaRecords(
    "model",
    "registered_models",
    {**dict.fromkeys(_PARTS, str), "comment": str, "storage_location": str},
)
FUNCTIONS = SchemaRecords(
    "function", "functions", types_of("function"), wrapper="function_info", of_one_schema=True
)


def list_versions(call: ServerRequest) -> Document:
    """List the versions of a registered model: none is kept here."""
    MODELS.get(call)
    return {"model_versions": []}


_UC = "/api/2.1/unity-catalog"
ROUTES = (
    *(
        Route(method, path, handler)
        for records, path in ((MODELS, f"{_UC}/models"), (FUNCTIONS, f"{_UC}/functions"))
        for method, path, handler in (
            ("GET", path, records.list),
            ("POST", path, records.create),
            ("GET", f"{path}/{{}}", records.get),
            ("PATCH", f"{path}/{{}}", records.update),
            ("DELETE", f"{path}/{{}}", records.delete),
        )
    ),
    Route("GET", f"{_UC}/models/{{}}/versions", list_versions),
)
