"""Permissions and grants of deployed resources, as the bundle declares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from lakeward.bundle.configuration.permissions import LEVELS, PRINCIPALS
from lakeward.bundle.deployment.resource_api import Api

_SECURABLES = {"catalogs": "catalog", "schemas": "schema", "volumes": "volume"}


def set_access(api: Api, kind: str, identifier: str, resource: Mapping[str, Any], user: str) -> None:
    """Give a deployed resource the permissions, or grants, of the bundle; `user` owns what has no owner.

    Args:
        api: The workspace.
        kind: The kind of the resource in the bundle.
        identifier: Its id.
        resource: Its settings in the bundle.
        user: Who deploys.
    """
    grants, permissions = resource.get("grants"), resource.get("permissions")
    if kind in _SECURABLES:
        if grants is not None:
            _set_grants(api, f"{_SECURABLES[kind]}/{quote(identifier)}", grants)
    elif permissions and kind == "secret_scopes":
        _set_scope_acls(api, identifier, permissions, user)
    elif permissions:
        _set_permissions(api, kind, identifier, permissions, user)


def _set_permissions(
    api: Api, kind: str, identifier: str, entries: Sequence[Mapping[str, Any]], user: str
) -> None:
    levels = LEVELS[kind]
    acls = [
        {**{name: entry[name] for name in PRINCIPALS if entry.get(name)}, "permission_level": entry["level"]}
        for entry in entries
    ]
    if not any(entry["permission_level"] == levels.strongest for entry in acls):
        acls.append({"user_name": user, "permission_level": levels.strongest})
    path = f"/api/2.0/permissions/{levels.api_name or kind}/{identifier}"
    api.ask("PUT", path, {"access_control_list": acls})


def _set_scope_acls(api: Api, scope: str, entries: Sequence[Mapping[str, Any]], user: str) -> None:
    wanted = {
        next(str(entry[name]) for name in PRINCIPALS if entry.get(name)): entry["level"] for entry in entries
    }
    there = api.ask("GET", f"/api/2.0/secrets/acls/list?scope={quote(scope)}").get("items") or ()
    for principal in {str(each["principal"]) for each in there} - {*wanted, user}:
        api.ask("POST", "/api/2.0/secrets/acls/delete", {"scope": scope, "principal": principal})
    for principal, level in wanted.items():
        acl = {"scope": scope, "principal": principal, "permission": level}
        api.ask("POST", "/api/2.0/secrets/acls/put", acl)


def _set_grants(api: Api, securable: str, grants: Sequence[Mapping[str, Any]]) -> None:
    path = f"/api/2.1/unity-catalog/permissions/{securable}"
    wanted = {str(each["principal"]): set(each.get("privileges") or ()) for each in grants}
    assignments = api.ask("GET", path).get("privilege_assignments") or ()
    there = {str(each["principal"]): set(each["privileges"]) for each in assignments}
    changes = [
        {
            "principal": principal,
            "add": sorted(wanted.get(principal, set()) - there.get(principal, set())),
            "remove": sorted(there.get(principal, set()) - wanted.get(principal, set())),
        }
        for principal in sorted({*wanted, *there})
    ]
    changes = [change for change in changes if change["add"] or change["remove"]]
    if changes:
        api.ask("PATCH", path, {"changes": changes})
