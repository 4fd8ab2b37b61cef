"""Objects that clients create, read and delete, and that have no effect on the local Spark.

Each kind is a row of a table: its fields, its id, how its routes are spelled. What is created is kept in the
store, so that a client finds what it wrote.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json

from lakeward.databricks_shims.local_workspace import Route, exclusively, invalid_parameter, user_id
from lakeward.workspace.api.cluster_settings import require_node_type
from lakeward.workspace.api.record_kind import RecordKind
from lakeward.workspace.api.repos import require_provider
from lakeward.workspace.state.store import Document


def _check_policy(body: Document) -> None:
    for name in ("definition", "policy_family_definition_overrides"):
        if name not in body:
            continue
        try:
            parsed = json.loads(body[name])
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            raise invalid_parameter(f"{name} is not a JSON object.")


def _check_pool(body: Document) -> None:
    if "node_type_id" in body:
        require_node_type(body["node_type_id"])


def _check_provider(body: Document) -> None:
    if "git_provider" in body:
        require_provider(body["git_provider"])


def _check_addresses(body: Document) -> None:
    if body.get("list_type", "ALLOW") not in ("ALLOW", "BLOCK"):
        raise invalid_parameter("list_type is ALLOW or BLOCK.")
    for address in body.get("ip_addresses") or ():
        try:
            ipaddress.ip_network(str(address), strict=False)
        except ValueError:
            message = f"{str(address)[:50]!r} is not an IP address or CIDR range."
            raise invalid_parameter(message) from None


def _address_list(record: Document) -> Document:
    """Return a list with the number of its addresses, and the numeric id of its creator: clients parse it."""
    creator = user_id(str(record["created_by"]))
    addresses = record.get("ip_addresses") or []
    return {
        **record,
        "address_count": len(addresses),
        "created_by": int(creator),
        "updated_by": int(creator),
    }


def _check_script(body: Document) -> None:
    try:
        base64.b64decode(body.get("script", ""), validate=True)
    except (binascii.Error, ValueError):
        raise invalid_parameter("script is not base64.") from None


POLICIES = RecordKind(
    "cluster_policy",
    "Cluster policy",
    "policy_id",
    "policies",
    ("name",),
    unique="name",
    defaults=(("is_default", False),),
    check=_check_policy,
    times=("created_at_timestamp", "updated_at_timestamp"),
    creator="creator_user_name",
)
POOLS = RecordKind(
    "instance_pool",
    "Instance pool",
    "instance_pool_id",
    "instance_pools",
    ("instance_pool_name", "node_type_id"),
    unique="instance_pool_name",
    defaults=(
        ("state", "ACTIVE"),
        ("stats", {"used_count": 0, "idle_count": 0, "pending_used_count": 0, "pending_idle_count": 0}),
    ),
    check=_check_pool,
)
GIT_CREDENTIALS = RecordKind(
    "git_credential",
    "Git credential",
    "credential_id",
    "credentials",
    ("git_provider",),
    hidden=("personal_access_token",),
    check=_check_provider,
)
ADDRESSES = RecordKind(
    "ip_access_list",
    "IP access list",
    "list_id",
    "ip_access_lists",
    ("label", "list_type"),
    wrapper="ip_access_list",
    defaults=(("enabled", True),),
    check=_check_addresses,
    as_shown=_address_list,
)
SCRIPTS = RecordKind(
    "global_init_script",
    "Global init script",
    "script_id",
    "scripts",
    ("name", "script"),
    defaults=(("enabled", False), ("position", 0)),
    check=_check_script,
)
STORAGE_CREDENTIALS = RecordKind(
    "storage_credential",
    "Storage credential",
    "name",
    "storage_credentials",
    ("name",),
    unique="name",
    hidden=("skip_validation", "cloudflare_api_token"),
    used_by=(("external_location", "credential_name"),),
)
LOCATIONS = RecordKind(
    "external_location",
    "External location",
    "name",
    "external_locations",
    ("name", "url", "credential_name"),
    unique="name",
    hidden=("skip_validation",),
    refers_to=(("credential_name", "storage_credential"),),
)
CONNECTIONS = RecordKind(
    "connection",
    "Connection",
    "name",
    "connections",
    ("name", "connection_type", "options"),
    unique="name",
    hidden=("options", "secrets"),
)
KINDS = (POLICIES, POOLS, GIT_CREDENTIALS, ADDRESSES, SCRIPTS, STORAGE_CREDENTIALS, LOCATIONS, CONNECTIONS)


def _verbs(kind: RecordKind, path: str) -> list[Route]:
    """Routes spelled as verbs: POST create, GET get."""
    return [
        Route("GET", f"{path}/list", kind.list),
        Route("GET", f"{path}/get", kind.get),
        Route("POST", f"{path}/create", exclusively(kind.create)),
        Route("POST", f"{path}/edit", exclusively(kind.edit)),
        Route("POST", f"{path}/delete", exclusively(kind.delete)),
    ]


def _rest(kind: RecordKind, path: str, *, put: bool = False) -> list[Route]:
    """Routes spelled as resources: POST path, GET path/id."""
    return [
        Route("GET", path, kind.list),
        Route("POST", path, exclusively(kind.create)),
        Route("GET", f"{path}/{{}}", kind.get),
        Route("PATCH", f"{path}/{{}}", exclusively(kind.update)),
        Route("DELETE", f"{path}/{{}}", exclusively(kind.delete)),
        *([Route("PUT", f"{path}/{{}}", exclusively(kind.edit))] if put else []),
    ]


_UC = "/api/2.1/unity-catalog"
ROUTES = (
    *_verbs(POLICIES, "/api/2.0/policies/clusters"),
    *_verbs(POOLS, "/api/2.0/instance-pools"),
    *_rest(GIT_CREDENTIALS, "/api/2.0/git-credentials"),
    *_rest(ADDRESSES, "/api/2.0/ip-access-lists", put=True),
    *_rest(SCRIPTS, "/api/2.0/global-init-scripts"),
    *_rest(STORAGE_CREDENTIALS, f"{_UC}/storage-credentials"),
    *_rest(LOCATIONS, f"{_UC}/external-locations"),
    *_rest(CONNECTIONS, f"{_UC}/connections"),
)
