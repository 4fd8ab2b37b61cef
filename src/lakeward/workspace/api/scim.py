"""Users, groups and service principals of the workspace (SCIM 2.0).

The owner of the lakehouse is a user from the start, with the groups `users` and `admins`. What is added here
is kept in the store; permissions name principals by their names.

Sources: https://docs.databricks.com/api/workspace/users and its siblings; RFC 7644, section 3.5.2, for PATCH.
"""

from __future__ import annotations

import copy
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.databricks_shims.local_workspace import (
    Route,
    exclusively,
    invalid_parameter,
    make_home,
    user_id,
)
from lakeward.workspace.api.fields import read_fields
from lakeward.workspace.api.permissions import require_admin
from lakeward.workspace.api.scim_directory import (
    CORE,
    GROUPS,
    PRINCIPALS,
    RESOURCE_TYPES,
    USERS,
    Directory,
    ResourceType,
    name_of,
)
from lakeward.workspace.api.scim_filters import compile_filter, values_at
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
_MOST_RESULTS = 10_000
_CHANGE = "change users, groups and service principals"
_MULTIVALUED = ("entitlements", "roles", "emails", "members", "groups")


@dataclass(frozen=True)
class Endpoint:
    """The handlers of one resource type."""

    kind: ResourceType

    def list(self, call: ServerRequest) -> Document:
        """List resources: filtered, sorted, from `startIndex` on, with the requested `attributes`."""
        matches = compile_filter(call.query.get("filter", ""))
        found = [each for each in Directory(call).all(self.kind) if matches(each)]
        sort = call.query.get("sortBy")
        if sort:
            found.sort(
                key=lambda each: [str(value).lower() for value in values_at(each, sort)],
                reverse=call.query.get("sortOrder") == "descending",
            )
        begin = max(1, call.number("startIndex", 1))
        count = min(call.number("count", _MOST_RESULTS), _MOST_RESULTS)
        chosen = [_projected(each, call.query) for each in found[begin - 1 : begin - 1 + count]]
        return {
            "schemas": [_LIST],
            "totalResults": len(found),
            "startIndex": begin,
            "itemsPerPage": len(chosen),
            "Resources": chosen,
        }

    def get(self, call: ServerRequest) -> Document:
        """Return one resource."""
        return _projected(Directory(call).get(self.kind, call.path_parameter), call.query)

    def create(self, call: ServerRequest) -> Document:
        """Create a principal; a user gets a home folder."""
        require_admin(call, _CHANGE)
        body = self._read(call.body)
        if self.kind is PRINCIPALS:
            body.setdefault("applicationId", str(uuid.uuid4()))
        name = name_of(self.kind, body)
        if not name or len(name) > 255 or any(char in name for char in "/\\\0") or name in (".", ".."):
            raise invalid_parameter(f"{self.kind.naming} is missing or invalid.")
        if self.kind is USERS:
            body.setdefault("displayName", name)
            body.setdefault("emails", [{"type": "work", "value": name, "primary": True}])
        if self.kind is PRINCIPALS:
            body.setdefault("displayName", name)
        if self.kind is not GROUPS:
            body.setdefault("active", True)
        created = Directory(call).insert(self.kind, body)
        if self.kind is USERS:
            make_home(call, name)
        return created

    def replace(self, call: ServerRequest) -> Document:
        """Replace the attributes of a principal."""
        require_admin(call, _CHANGE)
        directory = Directory(call)
        before = directory.get(self.kind, call.path_parameter)
        body = self._read(call.body)
        body.setdefault(self.kind.naming, name_of(self.kind, before))
        if self.kind is not GROUPS and body[self.kind.naming] != name_of(self.kind, before):
            raise invalid_parameter(f"{self.kind.naming} cannot be changed.")
        return directory.replace(self.kind, call.path_parameter, body)

    def patch(self, call: ServerRequest) -> Document:
        """Apply the operations `add`, `replace` and `remove`."""
        require_admin(call, _CHANGE)
        directory = Directory(call)
        directory.get(self.kind, call.path_parameter)
        operations = next((call.body[name] for name in call.body if name.lower() == "operations"), None)
        stored = call.store.get(self.kind.kind, call.path_parameter) or {}
        naming = name_of(self.kind, stored)
        changed = self._read(apply_operations(stored, operations))
        if self.kind is not GROUPS and name_of(self.kind, changed) != naming:
            raise invalid_parameter(f"{self.kind.naming} cannot be changed.")
        if not name_of(self.kind, changed):
            raise invalid_parameter(f"{self.kind.naming} cannot be removed.")
        return directory.replace(self.kind, call.path_parameter, changed)

    def delete(self, call: ServerRequest) -> None:
        """Remove a principal."""
        require_admin(call, _CHANGE)
        Directory(call).remove(self.kind, call.path_parameter)

    def _read(self, body: Mapping[str, Any]) -> Document:
        found = read_fields(body, self.kind.types)
        for name in _MULTIVALUED:
            if not all(isinstance(each, dict) for each in found.get(name) or ()):
                raise invalid_parameter(f"{name} must be a list of objects.")
        return found


def me(call: ServerRequest) -> Document:
    """Return the caller as a user, with the groups that it belongs to."""
    directory = Directory(call)
    if call.caller == call.owner:
        return _projected(directory.get(USERS, user_id(call.owner)), call.query)
    for kind in (USERS, PRINCIPALS):
        for each in directory.all(kind):
            if each[kind.naming] == call.caller:
                return _projected({**each, "userName": call.caller}, call.query)
    groups = [each for each in directory.all(GROUPS) if each["displayName"] == "users"]
    return {
        "schemas": [CORE + USERS.noun],
        "id": user_id(call.caller),
        "userName": call.caller,
        "displayName": call.caller,
        "active": True,
        "groups": [
            {"display": each["displayName"], "value": each["id"], "type": "direct"} for each in groups
        ],
    }


def _projected(resource: Document, query: Mapping[str, str]) -> Document:
    """Keep the requested attributes; id and schemas are always returned."""
    wanted, unwanted = query.get("attributes"), query.get("excludedAttributes")
    if wanted:
        names = {each.strip().split(".")[0].lower() for each in wanted.split(",")} | {"id", "schemas"}
        return {name: value for name, value in resource.items() if name.lower() in names}
    if unwanted:
        names = {each.strip().split(".")[0].lower() for each in unwanted.split(",")} - {"id"}
        return {name: value for name, value in resource.items() if name.lower() not in names}
    return resource


def _routes(kind: ResourceType) -> list[Route]:
    end = Endpoint(kind)
    return [
        Route(method, f"{prefix}/{kind.path}{tail}", handler)
        for prefix in ("/api/2.0/preview/scim/v2", "/api/2.0/account/scim/v2")
        for method, tail, handler in (
            ("GET", "", end.list),
            ("POST", "", exclusively(end.create)),
            ("GET", "/{}", end.get),
            ("PUT", "/{}", exclusively(end.replace)),
            ("PATCH", "/{}", exclusively(end.patch)),
            ("DELETE", "/{}", exclusively(end.delete)),
        )
    ]


_PATH = re.compile(r"([A-Za-z]\w*)(?:\[(.+)\])?(?:\.([A-Za-z]\w*))?", re.DOTALL)


def apply_operations(resource: Document, operations: object) -> Document:
    """Return the resource with all operations applied; nothing is changed when one of them is wrong.

    >>> apply_operations({"name": "a"}, [{"op": "replace", "path": "name", "value": "b"}])
    {'name': 'b'}
    """
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise invalid_parameter("Operations must be a list of objects.")
    result = copy.deepcopy(resource)
    for operation in operations:
        kind, path = str(operation.get("op")).lower(), operation.get("path")
        if kind not in ("add", "replace", "remove"):
            raise invalid_parameter("op is add, replace or remove.")
        if path:
            _apply(result, kind, str(path), operation.get("value"))
            continue
        values = operation.get("value")
        if kind == "remove" or not isinstance(values, dict):
            raise invalid_parameter(f"An operation {kind} without path has an object as value.")
        for name, value in values.items():
            _apply(result, kind, name, value)
    return result


def _apply(resource: Document, kind: str, path: str, value: object) -> None:
    match = _PATH.fullmatch(path.strip().rpartition(":")[2] if path.startswith("urn:") else path.strip())
    if match is None:
        raise invalid_parameter(f"The path {path[:100]!r} is invalid.")
    name, chosen, inner = match.groups()
    name = next((each for each in (*resource, *_MULTIVALUED) if each.lower() == name.lower()), name)
    if name in _MULTIVALUED:
        _apply_to_list(resource, kind, name, chosen, value)
    elif inner:
        holder = resource.setdefault(name, {})
        if not isinstance(holder, dict):
            raise invalid_parameter(f"{name} has no attribute {inner}.")
        holder.pop(inner, None) if kind == "remove" else holder.update({inner: value})
    elif kind == "remove":
        resource.pop(name, None)
    else:
        resource[name] = value


def _apply_to_list(resource: Document, kind: str, name: str, chosen: str | None, value: object) -> None:
    items = list(resource.get(name) or [])
    given = [
        each if isinstance(each, dict) else {"value": each}
        for each in (value if isinstance(value, list) else [value])
    ]
    given = [each for each in given if each.get("value") is not None]
    keys = {str(each.get("value")) for each in given}
    if chosen:
        matches = compile_filter(chosen)
        kept = [each for each in items if not matches(each)]
        resource[name] = kept if kind == "remove" else [*kept, *given]
    elif kind == "remove":
        resource[name] = [each for each in items if str(each.get("value")) not in keys] if keys else []
    elif kind == "replace":
        resource[name] = given
    else:
        resource[name] = [*(each for each in items if str(each.get("value")) not in keys), *given]


ROUTES = (
    Route("GET", "/api/2.0/preview/scim/v2/Me", me),
    *(route for kind in RESOURCE_TYPES for route in _routes(kind)),
)
