"""Deploy a bundle to a workspace, and destroy it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lakeward.bundle.configuration.lookups import lookups_of, placeholder
from lakeward.bundle.configuration.permissions import LEVELS, PRINCIPALS
from lakeward.bundle.deployment.deployment_state import DeployedResource, DeploymentState
from lakeward.bundle.deployment.payloads import Places, body_of, replace_ids
from lakeward.bundle.deployment.resource_api import KINDS, Api, Kind, numeric_id
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.sync import synced_files
from lakeward.errors import BundleError
from lakeward.session import BUILT_IN_CATALOGS

# Kinds that other resources refer to by an id which the workspace chooses.
_REFERENCED = ("alerts", "dashboards", "jobs", "pipelines")


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
    state = DeploymentState.read(bundle, api)
    declared = {f"{kind.name}.{key}" for kind in KINDS for key in bundle.resources(kind.name)}
    removed = [name for name in state.resources if name not in declared]
    state.require_unprotected(removed)
    artifacts = f"{bundle.config['workspace']['artifact_path']}/.internal"
    places = Places(bundle, {folder: f"{artifacts}/{file.name}" for folder, file in wheels.items()})
    contents = {places.file(name): bundle.root / name for name in synced_files(bundle)}
    contents |= {f"{artifacts}/{file.name}": file for file in wheels.values()}
    files = _upload(api, contents, state.files)
    api.upload(places.metadata, json.dumps({"bundle": bundle.name, "target": bundle.target}).encode())
    _create_catalogs(bundle, api)
    deployment = _ResourceDeployment(bundle, api, places, state, user)
    for kind in KINDS:
        for key, resource in _by_dependency(bundle, kind.name):
            deployment.deploy_resource(kind, key, resource)
    deployment.delete_resources(removed)
    return Deployed(files, **{change: tuple(names) for change, names in deployment.changes.items()})


class _ResourceDeployment:
    """Creates, changes and deletes the resources of a bundle; `state` is stored after each of them.

    Attributes:
        changes: The names of the resources by what was done.
    """

    def __init__(self, bundle: Bundle, api: Api, places: Places, state: DeploymentState, user: str) -> None:
        self._bundle, self._api, self._places, self._state, self._user = bundle, api, places, state, user
        # The ids of the workspace by those that stand in for them in the bundle.
        self._ids = _looked_up(bundle, api)
        self.changes: dict[str, list[str]] = {"created": [], "updated": [], "unchanged": [], "deleted": []}

    def deploy_resource(self, kind: Kind, key: str, resource: Mapping[str, Any]) -> None:
        """Create a resource, or change it if its settings have changed."""
        name = f"{kind.name}.{key}"
        body = replace_ids(body_of(kind.name, resource, self._places), self._ids)
        digest = _digest([body, resource.get("permissions"), resource.get("grants")])
        known = self._state.resources.get(name)
        if known is not None and not kind.exists(self._api, known.id):
            known = None
        if "parent_path" in body:
            self._api.ask("POST", "/api/2.0/workspace/mkdirs", {"path": body["parent_path"]})
        if known is None:
            change, identifier = "created", kind.create_resource(self._api, body)
        elif known.digest == digest:
            change, identifier = "unchanged", known.id
        else:
            change, identifier = "updated", known.id
            kind.update_resource(self._api, identifier, body)
        is_shared = bool(resource.get("permissions")) or resource.get("grants") is not None
        # What the bundle has no more is withdrawn; without it, access is managed in the workspace.
        if change != "unchanged" and (is_shared or (known is not None and known.shared)):
            set_access(self._api, kind.name, identifier, resource, self._user)
        self.changes[change].append(name)
        protected = (resource.get("lifecycle") or {}).get("prevent_destroy") is True
        self._state.resources[name] = DeployedResource(identifier, digest, protected, is_shared)
        self._state.save(self._bundle, self._api)
        if kind.name in _REFERENCED:
            self._ids[str(self._bundle.id_of(kind.name, key))] = numeric_id(identifier)

    def delete_resources(self, names: list[str]) -> None:
        """Delete resources of the state, each before those that it may refer to."""
        for kind in reversed(KINDS):
            for name in [each for each in self._state.of_kind(kind.name) if each in names]:
                kind.delete_resource(self._api, self._state.resources.pop(name).id)
                self.changes["deleted"].append(name)
        self._state.save(self._bundle, self._api)


def _found_jobs(api: Api, name: str) -> list[str]:
    answer = api.ask("GET", f"/api/2.2/jobs/list?name={quote(name, safe='')}")
    jobs = answer.get("jobs") or ()
    return [str(each["job_id"]) for each in jobs if each["settings"].get("name") == name]


def _found_pipelines(api: Api, name: str) -> list[str]:
    # `_` matches any character: the filter has no way to write a quote.
    condition = "name LIKE '{}'".format(name.replace("'", "_"))
    answer = api.ask("GET", f"/api/2.0/pipelines?max_results=100&filter={quote(condition, safe='')}")
    return [each["pipeline_id"] for each in answer.get("statuses") or () if each["name"] == name]


_SEARCHES = {"job": _found_jobs, "pipeline": _found_pipelines}


def _looked_up(bundle: Bundle, api: Api) -> dict[str, int | str]:
    """Return the ids of the jobs and pipelines of the workspace that variables look up by their names.

    Raises BundleError(VARIABLE_LOOKUP) where not exactly one has the name.
    """
    found: dict[str, int | str] = {}
    for kind, name in lookups_of(bundle.config.get("variables") or {}):
        if kind not in _SEARCHES:
            continue
        ids = _SEARCHES[kind](api, name)
        if len(ids) != 1:
            message = f"A variable looks up the {kind} `{name}`: the workspace has {len(ids)} of that name."
            cure = "Deploy its bundle first, or give the variable an id with --var."
            raise BundleError("VARIABLE_LOOKUP", message, next_step=cure)
        found[placeholder(kind, name)] = numeric_id(ids[0])
    return found


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
    state = DeploymentState.read(bundle, api)
    if not even_protected:
        state.require_unprotected(state.resources)
    deleted = [(kind, name) for kind in reversed(KINDS) for name in state.of_kind(kind.name)]
    for kind, name in deleted:
        kind.delete_resource(api, state.resources[name].id)
    root = bundle.config["workspace"]["root_path"]
    with suppress(LookupError):
        api.ask("POST", "/api/2.0/workspace/delete", {"path": root, "recursive": True})
    return Deployed(0, deleted=tuple(name for _, name in deleted))


def _upload(api: Api, contents: Mapping[str, Path], known: dict[str, str]) -> int:
    """Write files with a new digest, delete known ones that are gone; return how many were written."""
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


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _create_catalogs(bundle: Bundle, api: Api) -> None:
    """Create the catalogs that resources name: a local workspace is empty at the first deployment.

    On the platform an administrator creates them. A catalog that the bundle declares is a resource.
    """
    declared = {str(each.get("name")) for each in bundle.resources("catalogs").values()}
    for name in sorted(bundle.catalogs() - declared - {*BUILT_IN_CATALOGS}):
        with suppress(FileExistsError):
            api.ask("POST", "/api/2.1/unity-catalog/catalogs", {"name": name})


_SECURABLES = {"catalogs": "catalog", "schemas": "schema", "volumes": "volume"}


def set_access(api: Api, kind: str, identifier: str, resource: Mapping[str, Any], user: str) -> None:
    """Give a deployed resource the permissions, or grants, of the bundle; `user` owns what has no owner.

    Args:
        api: The workspace.
        kind: The kind of the resource in the bundle.
        identifier: Its id.
        resource: Its settings in the bundle.
        user: The user who deploys.
    """
    permissions = resource.get("permissions") or ()
    if kind in _SECURABLES:
        _set_grants(api, f"{_SECURABLES[kind]}/{quote(identifier)}", resource.get("grants") or ())
    elif kind == "secret_scopes":
        _set_scope_acls(api, identifier, permissions, user)
    else:
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
