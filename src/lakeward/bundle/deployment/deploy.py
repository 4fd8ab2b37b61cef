"""Deploy a bundle to a workspace, and destroy it.

The deployed state is stored in `state/lakeward.json` below the bundle's root path.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lakeward.bundle.configuration.permissions import PRINCIPALS
from lakeward.bundle.deployment.payloads import Places, body_of, identified
from lakeward.bundle.deployment.resource_api import KINDS, Api
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.sync import synced_files
from lakeward.errors import BundleError
from lakeward.session import BUILT_IN_CATALOGS


@dataclass(frozen=True)
class Deployed:
    """The result of a deployment: the number of written files, and the resources by change."""

    files: int
    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


def deploy(bundle: Bundle, api: Api, wheels: Mapping[str, Path], *, user: str) -> Deployed:
    """Upload what changed, then make and change resources, and delete those that the bundle has no more.

    `wheels` are the built ones by the folder that tasks name them in, relative to the bundle. Raises
    BundleError(DESTROY_PREVENTED) before anything is done when a protected resource would be deleted.
    """
    state = _state(bundle, api)
    wanted = {f"{kind.name}.{key}" for kind in KINDS for key in bundle.resources(kind.name)}
    gone = [name for name in state["resources"] if name not in wanted]
    _refuse([name for name in gone if state["resources"][name].get("protected")])
    paths = bundle.config["workspace"]
    places = Places(
        bundle, {folder: f"{paths['artifact_path']}/.internal/{file.name}" for folder, file in wheels.items()}
    )
    contents = {places.file(name): bundle.root / name for name in synced_files(bundle)}
    contents |= {f"{paths['artifact_path']}/.internal/{file.name}": file for file in wheels.values()}
    files = _upload(api, contents, state["files"])
    api.upload(places.metadata, json.dumps({"bundle": bundle.name, "target": bundle.target}).encode())
    done: dict[str, list[str]] = {"created": [], "updated": [], "unchanged": [], "deleted": []}
    ids: dict[str, int | str] = {}
    _create_catalogs(bundle, api)
    for kind in KINDS:
        for key, resource in _by_dependency(bundle, kind.name):
            name = f"{kind.name}.{key}"
            body = identified(body_of(kind.name, resource, places), ids)
            digest = _digest([body, resource.get("permissions"), resource.get("grants")])
            known = state["resources"].get(name)
            if known is not None and not kind.exists(api, known["id"]):
                known = None
            if "parent_path" in body:
                api.ask("POST", "/api/2.0/workspace/mkdirs", {"path": body["parent_path"]})
            if known is None:
                identifier = kind.made(api, body)
                done["created"].append(name)
            else:
                identifier = known["id"]
                done["unchanged" if known["digest"] == digest else "updated"].append(name)
                if known["digest"] != digest:
                    kind.change(api, identifier, body)
            if known is None or known["digest"] != digest:
                permit(api, kind.name, identifier, resource, user)
            protected = (resource.get("lifecycle") or {}).get("prevent_destroy") is True
            state["resources"][name] = {"id": identifier, "digest": digest, "protected": protected}
            _save(bundle, api, state)
            if kind.name in ("alerts", "dashboards", "jobs", "pipelines"):
                ids[str(bundle.id_of(kind.name, key))] = (
                    int(identifier) if identifier.isdecimal() else identifier
                )
    for kind in reversed(KINDS):
        for name in [each for each in gone if each.startswith(f"{kind.name}.")]:
            kind.remove(api, state["resources"].pop(name)["id"])
            done["deleted"].append(name)
    _save(bundle, api, state)
    return Deployed(files, **{what: tuple(names) for what, names in done.items()})


def _by_dependency(bundle: Bundle, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the resources of `kind`, each after those of the same kind that it refers to by id.

    In a circle of references the first in the file comes last, with an id that the workspace does not have.
    """
    resources = bundle.resources(kind)
    ids = {key: str(bundle.id_of(kind, key)) for key in resources}
    texts = {key: json.dumps(resource, default=str) for key, resource in resources.items()}
    seen: set[str] = set()

    def visit(key: str) -> Iterator[str]:
        if key in seen:
            return
        seen.add(key)
        for other, identifier in ids.items():
            if identifier in texts[key]:
                yield from visit(other)
        yield key

    for start in resources:
        for key in visit(start):
            yield key, resources[key]


def destroy(bundle: Bundle, api: Api, *, even_protected: bool = False) -> Deployed:
    """Delete every resource that was deployed, and the bundle's folder in the workspace.

    Raises BundleError(DESTROY_PREVENTED) before anything is done when one is protected.
    """
    state = _state(bundle, api)
    if not even_protected:
        _refuse([name for name, known in state["resources"].items() if known.get("protected")])
    deleted = []
    for kind in reversed(KINDS):
        for name in [each for each in state["resources"] if each.startswith(f"{kind.name}.")]:
            kind.remove(api, state["resources"][name]["id"])
            deleted.append(name)
    root = bundle.config["workspace"]["root_path"]
    with suppress(LookupError):
        api.ask("POST", "/api/2.0/workspace/delete", {"path": root, "recursive": True})
    return Deployed(0, deleted=tuple(deleted))


def deployed_id(bundle: Bundle, api: Api, kind: str, key: str) -> str:
    """Return the id of a deployed resource. Raises BundleError(NOT_DEPLOYED)."""
    known = _state(bundle, api)["resources"].get(f"{kind}.{key}")
    if known is None:
        message = f"`{key}` has not been deployed to this workspace as target {bundle.target}."
        raise BundleError("NOT_DEPLOYED", message, next_step=f"lakeward bundle deploy -t {bundle.target}")
    return str(known["id"])


def stored_ids(bundle: Bundle, folder: Path) -> dict[str, str]:
    """Return the ids of all deployed resources by `<kind>.<key>`; empty before the first deployment.

    `folder` has the workspace's files: its server need not run.
    """
    file = folder / _state_file(bundle).removeprefix("/Workspace").lstrip("/")
    try:
        resources = json.loads(file.read_text())["resources"]
    except (OSError, ValueError):
        return {}
    return {name: str(known["id"]) for name, known in resources.items()}


def _refuse(protected: list[str]) -> None:
    if protected:
        raise BundleError(
            "DESTROY_PREVENTED",
            f"{', '.join(protected)} would be deleted, and lifecycle.prevent_destroy forbids it.",
            next_step="Set it to false and deploy, if it is meant.",
        )


def _upload(api: Api, contents: Mapping[str, Path], known: dict[str, str]) -> int:
    written = 0
    for path, file in contents.items():
        content = file.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        if known.get(path) != digest:
            api.upload(path, content)
            known[path] = digest
            written += 1
    for path in [each for each in known if each not in contents]:
        with suppress(LookupError):
            api.ask("POST", "/api/2.0/workspace/delete", {"path": path})
        del known[path]
    return written


def _state(bundle: Bundle, api: Api) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(api.download(_state_file(bundle)))
    except (LookupError, ValueError):
        return {"files": {}, "resources": {}}
    return found


def _save(bundle: Bundle, api: Api, state: Mapping[str, Any]) -> None:
    api.upload(_state_file(bundle), json.dumps(state).encode())


def _state_file(bundle: Bundle) -> str:
    return f"{bundle.config['workspace']['state_path']}/lakeward.json"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


# Where resources name the catalog that contains them.
_CATALOGS = {"schemas": "catalog_name", "volumes": "catalog_name", "pipelines": "catalog"}


def _create_catalogs(bundle: Bundle, api: Api) -> None:
    """Create the catalogs that resources name: a local workspace is empty at the first deployment.

    On the platform an administrator creates them. A catalog that the bundle declares is a resource.
    """
    declared = {str(each.get("name")) for each in bundle.resources("catalogs").values()}
    named = {
        str(resource[field])
        for kind, field in _CATALOGS.items()
        for resource in bundle.resources(kind).values()
        if resource.get(field)
    }
    for name in sorted(named - declared - {*BUILT_IN_CATALOGS}):
        with suppress(FileExistsError):
            api.ask("POST", "/api/2.1/unity-catalog/catalogs", {"name": name})


# The names of kinds in the permissions API, where they differ.
_PERMITTED = {"alerts": "alertsv2"}
_GRANTED = {"catalogs": "catalog", "schemas": "schema", "volumes": "volume"}


def permit(api: Api, kind: str, identifier: str, resource: Mapping[str, Any], user: str) -> None:
    """Give a deployed resource the permissions, or grants, of the bundle; `user` owns what has no owner."""
    if kind in _GRANTED:
        if resource.get("grants") is not None:
            _grant(api, f"{_GRANTED[kind]}/{quote(identifier)}", resource["grants"])
    elif resource.get("permissions"):
        if kind == "secret_scopes":
            _share(api, identifier, resource["permissions"], user)
        else:
            owner = "CAN_MANAGE" if kind in ("alerts", "dashboards") else "IS_OWNER"
            path = f"/api/2.0/permissions/{_PERMITTED.get(kind, kind)}/{identifier}"
            _list(api, path, resource["permissions"], {"user_name": user, "permission_level": owner})


def _list(api: Api, path: str, entries: list[Mapping[str, Any]], owner: Mapping[str, str]) -> None:
    acls = [
        {**{name: entry[name] for name in PRINCIPALS if entry.get(name)}, "permission_level": entry["level"]}
        for entry in entries
    ]
    if not any(entry["permission_level"] == owner["permission_level"] for entry in acls):
        acls.append(dict(owner))
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
