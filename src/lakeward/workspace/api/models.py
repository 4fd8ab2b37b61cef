"""Functions and registered models of Unity Catalog, as records below a schema that exists."""

from __future__ import annotations

from typing import Any

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
_MODEL: Types = {**dict.fromkeys(_PARTS, str), "comment": str, "storage_location": str}
_FUNCTION = types_of("function")


def list_models(call: ServerRequest) -> Any:
    """List registered models, of one schema where one is named."""
    return paginate(call, _of_schema(call, "model"), "registered_models", default=100)


def list_functions(call: ServerRequest) -> Any:
    """List the functions of a schema that were created through this API."""
    catalog_handlers.require_schema(
        call, *(catalog_handlers.checked_name(call.required(name)) for name in _PARTS[:2])
    )
    return paginate(call, _of_schema(call, "function"), "functions", default=100)


def list_versions(call: ServerRequest) -> Any:
    """List the versions of a registered model: none is kept here."""
    _found(call, "model")
    return {"model_versions": []}


def create_model(call: ServerRequest) -> Any:
    """Register a model without versions."""
    return _insert(call, "model", read_fields(call.body, _MODEL, required=_PARTS))


def create_function(call: ServerRequest) -> Any:
    """Keep the description of a function; sessions do not see it."""
    given = read_fields(call.body, {"function_info": dict}, required=["function_info"])["function_info"]
    return _insert(call, "function", read_fields(given, _FUNCTION, required=_PARTS))


def get_model(call: ServerRequest) -> Any:
    """Return one registered model."""
    return _found(call, "model")


def get_function(call: ServerRequest) -> Any:
    """Return one function."""
    return _found(call, "function")


def update_model(call: ServerRequest) -> Any:
    """Change the comment or owner of a registered model."""
    return _update(call, "model")


def update_function(call: ServerRequest) -> Any:
    """Change the owner of a function."""
    return _update(call, "function")


def delete_model(call: ServerRequest) -> None:
    """Remove a registered model."""
    _delete(call, "model")


def delete_function(call: ServerRequest) -> None:
    """Remove a function."""
    _delete(call, "function")


def _delete(call: ServerRequest, kind: str) -> None:
    full_name = _found(call, kind)["full_name"]
    # As in RecordKind.delete, the record is deleted last.
    forget(call, kind, full_name)
    call.store.delete(f"uc_{kind}", full_name)


def _insert(call: ServerRequest, kind: str, body: Document) -> Document:
    names = [str(body[name]).lower() for name in _PARTS]
    for name in names:
        check_name(name)
    catalog_handlers.require_changeable_schema(call, *names[:2])
    full_name = ".".join(names)
    if call.store.get(f"uc_{kind}", full_name) is not None:
        raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"{kind.capitalize()} '{full_name}' already exists.")
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
    call.store.put(f"uc_{kind}", full_name, made)
    return made


def _update(call: ServerRequest, kind: str) -> Document:
    found = _found(call, kind)
    given = read_fields(call.body, {"comment": str, "owner": str})
    given.update(updated_at=now(), updated_by=call.caller)
    name = read_fields(call.body, {"new_name": str}).get("new_name", "").lower()
    if name and name != found["name"]:
        return _rename(call, kind, {**found, **given}, name)
    return call.store.change(f"uc_{kind}", found["full_name"], lambda body: body.update(given)) or found


def _rename(call: ServerRequest, kind: str, body: Document, name: str) -> Document:
    check_name(name)
    old, full_name = body["full_name"], f"{body['catalog_name']}.{body['schema_name']}.{name}"
    if call.store.get(f"uc_{kind}", full_name) is not None:
        raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"{kind.capitalize()} '{full_name}' already exists.")
    renamed = {**body, "name": name, "full_name": full_name}
    call.store.put(f"uc_{kind}", full_name, renamed)
    # The old record is deleted last: a crash before that leaves both.
    move_grants(call, kind, old, full_name)
    call.store.delete(f"uc_{kind}", old)
    forget(call, kind, old)
    return renamed


def _found(call: ServerRequest, kind: str) -> Document:
    found = call.store.get(f"uc_{kind}", call.path_parameter.lower())
    if found is None:
        raise missing(f"{kind.capitalize()} '{call.path_parameter}'")
    return found


def _of_schema(call: ServerRequest, kind: str) -> list[Document]:
    wanted = {name: call.query[name].lower() for name in _PARTS[:2] if call.query.get(name)}
    return [
        each
        for each in call.store.find(f"uc_{kind}")
        if all(each[name] == value for name, value in wanted.items())
    ]


_UC = "/api/2.1/unity-catalog"
ROUTES = (
    Route("GET", f"{_UC}/models", list_models),
    Route("POST", f"{_UC}/models", create_model),
    Route("GET", f"{_UC}/models/{{}}", get_model),
    Route("PATCH", f"{_UC}/models/{{}}", update_model),
    Route("DELETE", f"{_UC}/models/{{}}", delete_model),
    Route("GET", f"{_UC}/models/{{}}/versions", list_versions),
    Route("GET", f"{_UC}/functions", list_functions),
    Route("POST", f"{_UC}/functions", create_function),
    Route("GET", f"{_UC}/functions/{{}}", get_function),
    Route("PATCH", f"{_UC}/functions/{{}}", update_function),
    Route("DELETE", f"{_UC}/functions/{{}}", delete_function),
)
