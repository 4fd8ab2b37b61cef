"""Grants of Unity Catalog: stored and returned, not enforced.

Source: https://docs.databricks.com/api/workspace/grants
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.databricks_shims.local_workspace import (
    Route,
    check_name,
    exclusively,
    invalid_parameter,
    paginate,
)
from lakeward.workspace.api.request_types import parse_object
from lakeward.workspace.api.securables import read_grants, require_object, require_record, write_grants
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_SIZES = {"catalog": 1, "schema": 2, "table": 3, "volume": 3, "function": 3}
_RECORDS = ("storage_credential", "external_location", "connection")
_ALIASES = {"credential": "storage_credential"}
"""Other words for a kind: credentials are for storage here, and none for services."""
# Kinds that are not checked: nothing of them exists here, or no route finds it by this name.
_OTHERS = (
    *("external_metadata", "metastore", "model", "pipeline", "provider", "recipient", "share"),
    *("clean_room", "staging_table"),
)
# Privileges on a catalog or schema that mean the object itself, so objects below do not inherit them.
_OWN = {"catalog": ("USE_CATALOG", "CREATE_SCHEMA"), "schema": ("USE_SCHEMA",)}


def read(call: ServerRequest) -> Document:
    """Return the principals and their privileges on an object, on request of one principal alone."""
    kind, name = _securable(call)
    return {"privilege_assignments": _assignments(call, kind, name)}


def read_effective(call: ServerRequest) -> Document:
    """Return the privileges on an object, those inherited from its schema and catalog included."""
    kind, name = _securable(call)
    return {"privilege_assignments": _effective(call, kind, name)}


def list_assignments(call: ServerRequest) -> Document:
    """Return the same as `read`, in pages."""
    kind, name = _securable(call)
    return paginate(call, _assignments(call, kind, name), "privilege_assignments", default=1000, most=1000)


def list_effective(call: ServerRequest) -> Document:
    """Return the same as `read_effective`, in pages."""
    kind, name = _securable(call)
    return paginate(call, _effective(call, kind, name), "privilege_assignments", default=1000, most=1000)


@exclusively
def change(call: ServerRequest) -> Document:
    """Grant and revoke privileges. Raises ApiError for unknown ones."""
    kind, name = _securable(call)
    kept = read_grants(call, kind, name)
    for each in parse_object(call.body, "grants/update").get("changes") or ():
        principal = each.get("principal")
        if not principal:
            raise invalid_parameter("A change of grants names a principal.")
        held = (set(kept.get(principal, ())) - set(each.get("remove") or ())) | set(each.get("add") or ())
        kept[principal] = sorted(held)
        if not held:
            del kept[principal]
    write_grants(call, kind, name, kept)
    return {"privilege_assignments": _assignments(call, kind, name)}


def _assignments(call: ServerRequest, kind: str, name: str) -> list[Document]:
    wanted = call.query.get("principal")
    return [
        {"principal": principal, "privileges": privileges}
        for principal, privileges in sorted(read_grants(call, kind, name).items())
        if not wanted or principal == wanted
    ]


def _effective(call: ServerRequest, kind: str, name: str) -> list[Document]:
    found: dict[str, list[dict[str, str]]] = {}
    for each in _assignments(call, kind, name):
        found[each["principal"]] = [{"privilege": privilege} for privilege in each["privileges"]]
    for above, parent in _parents(kind, name):
        source = {"inherited_from_type": above.upper(), "inherited_from_name": parent}
        for each in _assignments(call, above, parent):
            found.setdefault(each["principal"], []).extend(
                {"privilege": privilege, **source}
                for privilege in each["privileges"]
                if privilege not in _OWN[above]
            )
    return [
        {"principal": principal, "privileges": privileges}
        for principal, privileges in sorted(found.items())
        if privileges
    ]


def _parents(kind: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield kinds and names of the objects from which one inherits, the nearest first."""
    parts = name.split(".")
    if _SIZES.get(kind) == 3:
        yield "schema", ".".join(parts[:2])
    if _SIZES.get(kind, 0) > 1:
        yield "catalog", parts[0]


def _securable(call: ServerRequest) -> tuple[str, str]:
    """Return kind and name of the object. Raises ApiError for an unknown kind and a missing object."""
    given, _, name = call.path_parameter.strip("/").lower().partition("/")
    kind = _ALIASES.get(given, given)
    parts = name.split(".")
    if kind in _RECORDS:
        require_record(call, kind, name)
    if kind in (*_RECORDS, *_OTHERS):
        return kind, name
    if kind not in _SIZES:
        kinds = ", ".join((*_SIZES, *_RECORDS, *_ALIASES, *_OTHERS))
        raise invalid_parameter(f"'{kind[:50]}' is not a kind of securable: {kinds}.")
    if len(parts) != _SIZES[kind]:
        raise invalid_parameter(f"'{name}' is not the name of a {kind}.")
    for part in parts:
        check_name(part)
    require_object(call, kind, parts)
    return kind, name


_UC = "/api/2.1/unity-catalog"
ROUTES = (
    Route("GET", f"{_UC}/permissions/*", read),
    Route("PATCH", f"{_UC}/permissions/*", change),
    Route("GET", f"{_UC}/effective-permissions/*", read_effective),
    Route("GET", f"{_UC}/privilege-assignments/*", list_assignments),
    Route("GET", f"{_UC}/effective-privilege-assignments/*", list_effective),
)
