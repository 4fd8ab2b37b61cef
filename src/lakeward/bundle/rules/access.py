"""Rules on who may do what: permissions, scopes and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lakeward.bundle.configuration.node import Path
from lakeward.bundle.configuration.permissions import LEVELS, PRINCIPALS
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.rules.rule import Breach
from lakeward.suggestions import unknown_name_hint

_SCOPE_NAME = re.compile(r"[A-Za-z0-9\-_@.]{1,128}")
_SECRET_WORD = re.compile(
    r"(^|[._-])(password|passwd|secret|token|api[._-]?key|access[._-]?key)$", re.IGNORECASE
)
_REFERRED = re.compile(r"\{\{\s*secrets/|^$")


def levels(bundle: Bundle) -> Iterator[Breach]:
    """Yield levels that the kind of resource does not have."""
    for path, kind, entry in _entries(bundle):
        level = entry.get("level")
        if level not in LEVELS[kind].known:
            hint = unknown_name_hint(str(level), LEVELS[kind].known, what="levels")
            yield (*path, "level"), f"`{level}` is not a permission level of {_name(path)}. {hint}"


def principals(bundle: Bundle) -> Iterator[Breach]:
    """Yield permissions that do not name exactly one principal."""
    for path, _, entry in _entries(bundle):
        if sum(bool(entry.get(name)) for name in PRINCIPALS) != 1:
            yield path, f"a permission of {_name(path)} names exactly one of {', '.join(PRINCIPALS)}."


def owners(bundle: Bundle) -> Iterator[Breach]:
    """Yield jobs and pipelines with more than one owner."""
    for kind in ("jobs", "pipelines"):
        for key, resource in bundle.resources(kind).items():
            found = [each for each in resource.get("permissions") or () if each.get("level") == "IS_OWNER"]
            if len(found) > 1:
                where: Path = ("resources", kind, key, "permissions")
                yield where, f"{_name(where)} has {len(found)} owners, and there is exactly one."


def scope_names(bundle: Bundle) -> Iterator[Breach]:
    """Yield invalid names of scopes."""
    for key, scope in bundle.secret_scopes.items():
        name = str(scope.get("name") or "")
        if not _SCOPE_NAME.fullmatch(name):
            yield (
                ("resources", "secret_scopes", key, "name"),
                f"`{name}` cannot be the name of a secret scope.",
            )


def shared_scopes(bundle: Bundle) -> Iterator[Breach]:
    """Yield scopes that all users of a target in mode development would share."""
    if bundle.mode != "development":
        return
    user = bundle.config["workspace"]["current_user"]
    for key, scope in bundle.secret_scopes.items():
        name = str(scope.get("name") or "").lower()
        if user["short_name"].lower() not in name and user["userName"].lower() not in name:
            where = ("resources", "secret_scopes", key, "name")
            yield where, f"the secret scope `{scope.get('name')}` has the same name for every developer."


def opened_scopes(bundle: Bundle) -> Iterator[Breach]:
    """Yield common permissions of groups, which also grant access to the bundle's secrets."""
    if not bundle.secret_scopes:
        return
    for number, entry in enumerate(bundle.config.get("permissions") or ()):
        if entry.get("group_name") and entry.get("level") in LEVELS["secret_scopes"].common:
            what = "read" if entry["level"] == "CAN_VIEW" else "manage"
            scopes = ", ".join(bundle.secret_scopes)
            yield (
                ("permissions", number),
                f"the group {entry['group_name']} may {what} every secret in {scopes}.",
            )


def literal_secrets(bundle: Bundle) -> Iterator[Breach]:
    """Yield settings named like a password or token that contain a literal value."""
    for kind in ("jobs", "pipelines"):
        for key, resource in bundle.resources(kind).items():
            for path, name, value in _settings(resource, ("resources", kind, key)):
                if _SECRET_WORD.search(name) and not _REFERRED.search(value):
                    yield path, f"`{name}` has its value written down."


def hosts(bundle: Bundle) -> Iterator[Breach]:
    """Yield a workspace host in the file, which ties the bundle to that workspace."""
    for name in ("host", "profile"):
        if bundle.config["workspace"].get(name):
            yield ("workspace", name), f"workspace.{name} ties the bundle to one workspace."


def _entries(bundle: Bundle) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    for kind in LEVELS:
        for key, resource in bundle.resources(kind).items():
            for number, entry in enumerate(resource.get("permissions") or ()):
                yield ("resources", kind, key, "permissions", number), kind, entry


def _settings(value: object, path: Path) -> Iterator[tuple[Path, str, str]]:
    if isinstance(value, Mapping):
        for name, child in value.items():
            if isinstance(child, str):
                yield (*path, name), str(name), child
            else:
                yield from _settings(child, (*path, name))
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from _settings(child, (*path, number))


def _name(path: Path) -> str:
    words = {"jobs": "job", "pipelines": "pipeline", "secret_scopes": "secret scope"}
    return f"the {words[str(path[1])]} {path[2]}"
