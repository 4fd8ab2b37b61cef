"""Known keys of a configuration's fixed parts; others are ignored with a warning, as by the Databricks CLI.

Source: https://docs.databricks.com/aws/en/dev-tools/bundles/reference
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from lakeward.bundle.configuration.findings import Finding
from lakeward.bundle.configuration.node import Node, Path
from lakeward.bundle.configuration.resource_kinds import RESOURCE_KINDS
from lakeward.suggestions import unknown_name_hint

UNKNOWN_FIELD = "unknown-field"
"""The rule about keys that no setting has."""
REPEATED_KEY = "repeated-key"
"""The rule of keys that one mapping has more than once."""

SECTIONS = frozenset(
    (
        *("artifacts", "bundle", "environments", "experimental", "include", "permissions", "presets"),
        *("python", "resources", "run_as", "scripts", "sync", "targets", "variables", "workspace"),
    )
)
_TARGET = frozenset(
    (
        *("artifacts", "bundle", "cluster_id", "compute_id", "default", "experimental", "git", "mode"),
        *("permissions", "presets", "resources", "run_as", "sync", "variables", "workspace"),
    )
)
_BUNDLE = frozenset(
    (
        *("cluster_id", "compute_id", "databricks_cli_version", "deployment", "engine", "git", "name"),
        *("mode", "target", "terraform", "uuid"),
    )
)
_WORKSPACE = frozenset(
    (
        *("account_id", "artifact_path", "auth_type", "azure_client_id", "azure_environment"),
        *("azure_login_app_id", "azure_tenant_id", "azure_use_msi", "azure_workspace_resource_id"),
        *("client_id", "current_user", "experimental_is_unified_host", "file_path"),
        *("google_service_account", "host", "metadata_service_url", "profile", "resource_path"),
        *("root_path", "state_path", "workspace_id"),
    )
)

# The type of a resource in databricks-sdk, and the fields that a bundle adds.
_RESOURCES = {
    "jobs": ("jobs.JobSettings", ("lifecycle", "permissions")),
    "pipelines": ("pipelines/create", ("lifecycle", "permissions")),
}


def unknown_fields(tree: Node) -> Iterator[Finding]:
    """Yield a warning for each unknown key of `tree`, the merged files of a bundle before a target is chosen.

    Blocks that only hold YAML anchors are not settings and yield no warning.
    """
    yield from _unknown(tree, SECTIONS, "sections")
    yield from _parts(tree)
    for section in ("targets", "environments"):
        for target in tree.section(section).children.values():
            yield from _unknown(target, _TARGET, "settings")
            yield from _parts(target)


def repeated_keys(tree: Node) -> Iterator[Finding]:
    """Yield a warning for each key that a mapping of the files of `tree` has more than once."""
    for key in tree.repeated:
        message = (
            f"The key {key.name} occurs twice in one mapping, first at {key.first}. The last value counts."
        )
        yield Finding(REPEATED_KEY, "warning", key.last, message, "Remove one of them.")


def unset_fields(tree: Node) -> dict[Path, Any]:
    """Return an empty value for each known field of `bundle` and `workspace` that the files leave out.

    References to them resolve to nothing instead of being unknown, as with the Databricks CLI.
    """
    parts = (("bundle", _BUNDLE - {"git", "deployment", "terraform"}), ("workspace", _WORKSPACE))
    return {
        (section, field): ""
        for section, fields in parts
        for field in fields - {"current_user"}
        if tree.section(section).get(field) is None
    }


def _parts(node: Node) -> Iterator[Finding]:
    parts: tuple[tuple[str, Collection[str], str], ...] = (
        ("bundle", _BUNDLE, "settings"),
        ("workspace", _WORKSPACE, "settings"),
        ("resources", RESOURCE_KINDS, "kinds"),
    )
    for name, known, what in parts:
        yield from _unknown(node.section(name), known, what)
    resources = node.section("resources")
    for name, fields, types in typed_resources(resources):
        for resource in resources.children[name].children.values():
            yield from _unknown_keys(resource, fields, types)


PERMISSION_FIELDS = dict.fromkeys(("level", "user_name", "group_name", "service_principal_name"), "str")
"""The fields of an entry of `permissions`, with their types."""


def typed_resources(resources: Node) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield kind, fields and the types that these name, for each of `resources` whose fields are known."""
    for name, (kind, more) in _RESOURCES.items():
        found = resources.get(name)
        if found is not None and found.children:
            # Imported here: bundles without jobs and pipelines need no table of types.
            from lakeward.databricks_shims.local_workspace import request_types

            types = request_types()
            yield name, {**types[kind], **dict.fromkeys(more, "any")}, types


def _unknown_keys(node: Node, fields: Mapping[str, Any], types: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield a warning for each unknown key of an object and of those in it."""
    yield from _unknown(node, fields, "fields")
    for key, child in node.children.items():
        if key in fields:
            yield from _unknown_keys_of_value(child, fields[key], types)


def _unknown_keys_of_value(node: Node, kind: object, types: Mapping[str, Any]) -> Iterator[Finding]:
    # Maps with names of the user's, texts and references to variables have no fields.
    if isinstance(kind, list) and isinstance(node.value, list):
        for item in node.value:
            yield from _unknown_keys_of_value(item, kind[0], types)
    elif isinstance(kind, str) and isinstance(types.get(kind), dict) and isinstance(node.value, dict):
        yield from _unknown_keys(node, types[kind], types)


def _unknown(node: Node, known: Collection[str], what: str) -> Iterator[Finding]:
    for key, child in node.children.items():
        if key not in known and not _holds_anchors(child):
            message = f"Unknown field: {key}. It is ignored."
            yield Finding(
                UNKNOWN_FIELD, "warning", child.position, message, unknown_name_hint(key, known, what=what)
            )


def _holds_anchors(node: Node) -> bool:
    if node.anchored:
        return True
    children = list(node.children.values()) if isinstance(node.value, dict) else node.value
    return isinstance(children, list) and bool(children) and all(_holds_anchors(child) for child in children)
