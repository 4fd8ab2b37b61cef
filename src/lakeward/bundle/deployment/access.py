"""Who may do what with what is deployed: lists of jobs and pipelines, of secret scopes, and grants.

What a resource of the bundle does not mention at all is left as it is in the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lakeward.bundle.deployment.kinds import Api
from lakeward.bundle.permissions import PRINCIPALS

__all__ = ["permit"]

_GRANTED = {"schemas": "schema", "volumes": "volume"}


def permit(api: Api, kind: str, identifier: str, resource: Mapping[str, Any], user: str) -> None:
    """Give a deployed resource the permissions, or grants, of the bundle; `user` owns what has no owner."""
    if kind in _GRANTED:
        if resource.get("grants") is not None:
            _grant(api, f"{_GRANTED[kind]}/{quote(identifier)}", resource["grants"])
    elif resource.get("permissions"):
        if kind == "secret_scopes":
            _share(api, identifier, resource["permissions"], user)
        else:
            _list(api, f"/api/2.0/permissions/{kind}/{identifier}", resource["permissions"], user)


def _list(api: Api, path: str, entries: list[Mapping[str, Any]], user: str) -> None:
    acls = [
        {**{name: entry[name] for name in PRINCIPALS if entry.get(name)}, "permission_level": entry["level"]}
        for entry in entries
    ]
    if not any(entry["permission_level"] == "IS_OWNER" for entry in acls):
        acls.append({"user_name": user, "permission_level": "IS_OWNER"})
    api.ask("PUT", path, {"access_control_list": acls})


def _share(api: Api, scope: str, entries: list[Mapping[str, Any]], user: str) -> None:
    wanted = {
        next(str(entry[name]) for name in PRINCIPALS if entry.get(name)): entry["level"] for entry in entries
    }
    there = api.ask("GET", f"/api/2.0/secrets/acls/list?scope={quote(scope)}").get("items") or ()
    for principal in {str(each["principal"]) for each in there} - {*wanted, user}:
        api.ask("POST", "/api/2.0/secrets/acls/delete", {"scope": scope, "principal": principal})
    for principal, level in wanted.items():
        acl = {"scope": scope, "principal": principal, "permission": level}
        api.ask("POST", "/api/2.0/secrets/acls/put", acl)


def _grant(api: Api, securable: str, grants: list[Mapping[str, Any]]) -> None:
    path = f"/api/2.1/unity-catalog/permissions/{securable}"
    wanted = {str(each["principal"]): set(each.get("privileges") or ()) for each in grants}
    told = api.ask("GET", path).get("privilege_assignments") or ()
    there = {str(each["principal"]): set(each["privileges"]) for each in told}
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
