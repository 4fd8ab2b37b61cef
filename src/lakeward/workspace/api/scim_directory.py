"""The principals of a workspace: users, groups and service principals, as the store keeps them.

The owner of the lakehouse is a user from the start, with the groups `users` and `admins`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, invalid_parameter, user_id
from lakeward.principals import BUILT_IN_GROUPS, member_id
from lakeward.workspace.api.fields import Types
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

CORE = "urn:ietf:params:scim:schemas:core:2.0:"


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
            each["id"]: str(each.get("displayName") or name_of(type_, each))
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
            and before["displayName"] in BUILT_IN_GROUPS
            and body.get("displayName") != before["displayName"]
        ):
            raise invalid_parameter(f"Group {before['displayName']} cannot be renamed.")
        self._refuse_duplicate(kind, body, but=key)
        self._require_members(body)
        body.pop("groups", None)
        self._store.put(kind.kind, key, {**body, "id": key})
        return self.get(kind, key)

    def remove(self, kind: ResourceType, key: str) -> None:
        """Remove a resource and its memberships. Raises ApiError for the owner and the built-in groups."""
        found = self.get(kind, key)
        if kind is GROUPS and found["displayName"] in BUILT_IN_GROUPS:
            raise invalid_parameter(f"Group {found['displayName']} cannot be deleted.")
        if kind is USERS and found["userName"] == self._call.owner:
            raise invalid_parameter("The owner of the workspace cannot be deleted.")
        self._store.delete(kind.kind, key)
        for group in self._store.find(GROUPS.kind):
            if any(member_id(each) == key for each in group.get("members") or ()):
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
        """Raise ApiError for a member that is not a user, group or service principal."""
        for member in map(member_id, group.get("members") or ()):
            if all(self._store.get(kind.kind, member) is None for kind in RESOURCE_TYPES):
                message = f"User, group or service principal with id {member[:100]} not found."
                raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)

    def _refuse_duplicate(self, kind: ResourceType, body: Document, *, but: str = "") -> None:
        name = name_of(kind, body).lower()
        for each in self._store.find(kind.kind):
            if each["id"] != but and name_of(kind, each).lower() == name:
                raise ApiError(
                    409,
                    "RESOURCE_ALREADY_EXISTS",
                    f"{kind.noun} with name {name_of(kind, body)} already exists.",
                )

    def _seed(self) -> None:
        """Create the owner and the built-in groups; later changes to them are kept."""
        owner = self._call.owner
        key = user_id(owner)
        if self._store.get(USERS.kind, key) is None:
            email = {"type": "work", "value": owner, "primary": True}
            body = {"id": key, "userName": owner, "displayName": owner, "emails": [email], "active": True}
            self._store.put(USERS.kind, key, body)
        for name in BUILT_IN_GROUPS:
            if self._store.get(GROUPS.kind, user_id(name)) is None:
                members = [{"value": key}] if name == "admins" else []
                self._store.put(
                    GROUPS.kind, user_id(name), {"id": user_id(name), "displayName": name, "members": members}
                )

    def _to_json(
        self, kind: ResourceType, body: Document, groups: list[Document], names: Mapping[str, str]
    ) -> Document:
        shown = {"schemas": [CORE + kind.noun], **body}
        of_groups = [
            {
                "display": each["displayName"],
                "value": each["id"],
                "type": "direct",
                "$ref": f"Groups/{each['id']}",
            }
            for each in groups
            if any(member_id(member) == body["id"] for member in each.get("members") or ())
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
            return list(dict.fromkeys(member_id(each) for each in group.get("members") or ()))
        return [each["id"] for kind in (USERS, PRINCIPALS) for each in self._store.find(kind.kind)]

    def _path_of(self, key: str) -> str:
        return next(kind.path for kind in RESOURCE_TYPES if self._store.get(kind.kind, key) is not None)


def name_of(kind: ResourceType, body: Mapping[str, Any]) -> str:
    """Return the attribute that names a resource of a type."""
    return str(body.get(kind.naming) or "")


def _drop_member(group: Document, key: str) -> None:
    group["members"] = [each for each in group["members"] if member_id(each) != key]
