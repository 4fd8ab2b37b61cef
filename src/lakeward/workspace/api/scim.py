"""Users, groups and service principals of the workspace (SCIM 2.0).

The owner of the lakehouse is a user from the start, with the groups `users` and `admins`. What is added here
is kept in the store; permissions name principals by their names.

Source: https://docs.databricks.com/api/workspace/users and its siblings.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, Route, exclusively, make_home, user_id
from lakeward.workspace.api.fields import Types, read_fields
from lakeward.workspace.api.permissions import is_admin
from lakeward.workspace.api.scim_filters import compile_filter, values_at
from lakeward.workspace.api.scim_patches import apply_operations
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_CORE = "urn:ietf:params:scim:schemas:core:2.0:"
_LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
_MOST_RESULTS = 10_000


@dataclass(frozen=True)
class ResourceType:
    """One kind of principal: its path, noun, the attribute that names it, and what a client may set."""

    path: str
    noun: str
    naming: str
    types: Types

    @property
    def kind(self) -> str:
        """Return the kind of its documents in the store."""
        return f"scim_{self.path.lower()}"


_COMMON: Types = {"displayName": str, "externalId": str, "entitlements": list, "roles": list}
USERS = ResourceType(
    "Users",
    "User",
    "userName",
    {**_COMMON, "userName": str, "name": dict, "emails": list, "active": bool, "groups": list},
)
GROUPS = ResourceType("Groups", "Group", "displayName", {**_COMMON, "members": list})
PRINCIPALS = ResourceType(
    "ServicePrincipals",
    "ServicePrincipal",
    "applicationId",
    {**_COMMON, "applicationId": str, "active": bool, "groups": list},
)
RESOURCE_TYPES = (USERS, GROUPS, PRINCIPALS)
_MULTIVALUED = ("entitlements", "roles", "emails", "members", "groups")


class Directory:
    """The principals of a workspace, as one request sees them."""

    def __init__(self, call: ServerRequest) -> None:
        self._call, self._store = call, call.store
        self._seed()

    def all(self, kind: ResourceType) -> list[Document]:
        """Return all resources of a type in order of creation, as a client sees them."""
        found = self._store.find(kind.kind)
        groups = self._store.find(GROUPS.kind)
        names = {
            each["id"]: str(each.get("displayName") or _name(type_, each))
            for type_ in RESOURCE_TYPES
            for each in self._store.find(type_.kind)
        }
        return [self._to_json(kind, each, groups, names) for each in found]

    def get(self, kind: ResourceType, key: str) -> Document:
        """Return one resource. Raises ApiError for an unknown id."""
        for each in self.all(kind):
            if each["id"] == key:
                return each
        raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"{kind.noun} with id {key} not found.")

    def insert(self, kind: ResourceType, body: Document) -> Document:
        """Keep a new resource. Raises ApiError where one of that name exists."""
        self._refuse_duplicate(kind, body)
        self._require_members(body)
        key = str(self._store.number())
        groups = body.pop("groups", None) or []
        self._store.put(kind.kind, key, {**body, "id": key})
        for group in groups:
            self._add_member(str(group.get("value")), key)
        return self.get(kind, key)

    def replace(self, kind: ResourceType, key: str, body: Document) -> Document:
        """Replace the settable attributes of a resource."""
        before = self.get(kind, key)
        if (
            kind is GROUPS
            and before["displayName"] in _BUILT_IN
            and body.get("displayName") != before["displayName"]
        ):
            raise ApiError(
                400, "INVALID_PARAMETER_VALUE", f"Group {before['displayName']} cannot be renamed."
            )
        self._refuse_duplicate(kind, body, but=key)
        self._require_members(body)
        body.pop("groups", None)
        self._store.put(kind.kind, key, {**body, "id": key})
        return self.get(kind, key)

    def remove(self, kind: ResourceType, key: str) -> None:
        """Remove a resource and its memberships. Raises ApiError for the owner and the built-in groups."""
        found = self.get(kind, key)
        if kind is GROUPS and found["displayName"] in _BUILT_IN:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"Group {found['displayName']} cannot be deleted.")
        if kind is USERS and found["userName"] == self._call.owner:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "The owner of the workspace cannot be deleted.")
        self._store.delete(kind.kind, key)
        for group in self._store.find(GROUPS.kind):
            if any(_member_id(each) == key for each in group.get("members") or ()):
                self._store.change(GROUPS.kind, group["id"], lambda body: _drop_member(body, key))

    def _add_member(self, group_id: str, key: str) -> None:
        member = {"value": key}
        if (
            self._store.change(
                GROUPS.kind, group_id, lambda body: body.setdefault("members", []).append(member)
            )
            is None
        ):
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"Group with id {group_id} not found.")

    def _require_members(self, group: Document) -> None:
        """Raise ApiError for a member that is no user, group or service principal."""
        for member in map(_member_id, group.get("members") or ()):
            if all(self._store.get(kind.kind, member) is None for kind in RESOURCE_TYPES):
                message = f"User, group or service principal with id {member[:100]} not found."
                raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)

    def _refuse_duplicate(self, kind: ResourceType, body: Document, *, but: str = "") -> None:
        name = _name(kind, body).lower()
        for each in self._store.find(kind.kind):
            if each["id"] != but and _name(kind, each).lower() == name:
                raise ApiError(
                    409,
                    "RESOURCE_ALREADY_EXISTS",
                    f"{kind.noun} with name {_name(kind, body)} already exists.",
                )

    def _seed(self) -> None:
        """Create the owner and the built-in groups; later changes to them are kept."""
        owner = self._call.owner
        key = user_id(owner)
        if self._store.get(USERS.kind, key) is None:
            email = {"type": "work", "value": owner, "primary": True}
            body = {"id": key, "userName": owner, "displayName": owner, "emails": [email], "active": True}
            self._store.put(USERS.kind, key, body)
        for name in _BUILT_IN:
            if self._store.get(GROUPS.kind, user_id(name)) is None:
                members = [{"value": key}] if name == "admins" else []
                self._store.put(
                    GROUPS.kind, user_id(name), {"id": user_id(name), "displayName": name, "members": members}
                )

    def _to_json(
        self, kind: ResourceType, body: Document, groups: list[Document], names: Mapping[str, str]
    ) -> Document:
        shown = {"schemas": [_CORE + kind.noun], **body}
        of_groups = [
            {
                "display": each["displayName"],
                "value": each["id"],
                "type": "direct",
                "$ref": f"Groups/{each['id']}",
            }
            for each in groups
            if any(_member_id(member) == body["id"] for member in each.get("members") or ())
            or (kind is not GROUPS and each["displayName"] == "users")
        ]
        if kind is GROUPS:
            shown["members"] = [
                {"display": names[member], "value": member, "$ref": f"{self._path_of(member)}/{member}"}
                for member in self._members(body)
                if member in names
            ]
            shown["meta"] = {"resourceType": "WorkspaceGroup"}
        shown["groups"] = of_groups
        return shown

    def _members(self, group: Document) -> list[str]:
        if group["displayName"] != "users":
            return list(dict.fromkeys(_member_id(each) for each in group.get("members") or ()))
        return [each["id"] for kind in (USERS, PRINCIPALS) for each in self._store.find(kind.kind)]

    def _path_of(self, key: str) -> str:
        return next(kind.path for kind in RESOURCE_TYPES if self._store.get(kind.kind, key) is not None)


_BUILT_IN = ("users", "admins")


@dataclass(frozen=True)
class Endpoint:
    """The handlers of one resource type."""

    kind: ResourceType

    def list(self, call: ServerRequest) -> Any:
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

    def get(self, call: ServerRequest) -> Any:
        """Return one resource."""
        return _projected(Directory(call).get(self.kind, call.path_parameter), call.query)

    def create(self, call: ServerRequest) -> Any:
        """Create a principal; a user gets a home folder."""
        _require_admin(call)
        body = self._read(call.body)
        if self.kind is PRINCIPALS:
            body.setdefault("applicationId", str(uuid.uuid4()))
        name = _name(self.kind, body)
        if not name or len(name) > 255 or any(char in name for char in "/\\\0") or name in (".", ".."):
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"{self.kind.naming} is missing or invalid.")
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

    def replace(self, call: ServerRequest) -> Any:
        """Replace the attributes of a principal."""
        _require_admin(call)
        directory = Directory(call)
        before = directory.get(self.kind, call.path_parameter)
        body = self._read(call.body)
        body.setdefault(self.kind.naming, _name(self.kind, before))
        if self.kind is not GROUPS and body[self.kind.naming] != _name(self.kind, before):
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"{self.kind.naming} cannot be changed.")
        return directory.replace(self.kind, call.path_parameter, body)

    def patch(self, call: ServerRequest) -> Any:
        """Apply the operations `add`, `replace` and `remove`."""
        _require_admin(call)
        directory = Directory(call)
        directory.get(self.kind, call.path_parameter)
        operations = next((call.body[name] for name in call.body if name.lower() == "operations"), None)
        stored = call.store.get(self.kind.kind, call.path_parameter) or {}
        naming = _name(self.kind, stored)
        changed = self._read(apply_operations(stored, operations, _MULTIVALUED))
        if self.kind is not GROUPS and _name(self.kind, changed) != naming:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"{self.kind.naming} cannot be changed.")
        if not _name(self.kind, changed):
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"{self.kind.naming} cannot be removed.")
        return directory.replace(self.kind, call.path_parameter, changed)

    def delete(self, call: ServerRequest) -> None:
        """Remove a principal."""
        _require_admin(call)
        Directory(call).remove(self.kind, call.path_parameter)

    def _read(self, body: Mapping[str, Any]) -> Document:
        found = read_fields(body, self.kind.types)
        for name in _MULTIVALUED:
            if not all(isinstance(each, dict) for each in found.get(name) or ()):
                raise ApiError(400, "INVALID_PARAMETER_VALUE", f"{name} must be a list of objects.")
        return found


def me(call: ServerRequest) -> Any:
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
        "schemas": [_CORE + USERS.noun],
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


def _require_admin(call: ServerRequest) -> None:
    if not is_admin(call):
        raise ApiError(
            403, "PERMISSION_DENIED", "Only administrators change users, groups and service principals."
        )


def _name(kind: ResourceType, body: Mapping[str, Any]) -> str:
    return str(body.get(kind.naming) or "")


def _member_id(member: Any) -> str:
    return str(member.get("value") if isinstance(member, dict) else member)


def _drop_member(group: Document, key: str) -> None:
    group["members"] = [each for each in group["members"] if _member_id(each) != key]


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


ROUTES = (
    Route("GET", "/api/2.0/preview/scim/v2/Me", me),
    *(route for kind in RESOURCE_TYPES for route in _routes(kind)),
)
