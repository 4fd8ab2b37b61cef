"""Common `permissions` and `run_as`, copied to every resource that accepts them (BN-2.4)."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.bundle.configuration.node import Node, failure, lift, with_value
from lakeward.suggestions import unknown_name_hint

PRINCIPALS = ("user_name", "group_name", "service_principal_name")


@dataclass(frozen=True)
class Levels:
    """The levels of a kind of resource, weakest first, and the equivalents of the three common levels.

    `api_name` is the kind in the permissions API where that has another name.
    """

    known: tuple[str, ...]
    common: dict[str, str]
    api_name: str = ""

    @property
    def strongest(self) -> str:
        """The level of a resource's creator."""
        return self.known[-1]


_VIEW, _RUN, _MANAGE = "CAN_VIEW", "CAN_RUN", "CAN_MANAGE"
_OF_QUERIES = ("CAN_READ", _RUN, "CAN_EDIT", _MANAGE)
LEVELS: dict[str, Levels] = {
    "alerts": Levels(_OF_QUERIES, {_VIEW: "CAN_READ", _RUN: _RUN, _MANAGE: _MANAGE}, "alertsv2"),
    "dashboards": Levels(_OF_QUERIES, {_VIEW: "CAN_READ", _MANAGE: _MANAGE}),
    "jobs": Levels(
        (_VIEW, "CAN_MANAGE_RUN", _MANAGE, "IS_OWNER"),
        {_VIEW: _VIEW, _RUN: "CAN_MANAGE_RUN", _MANAGE: _MANAGE},
    ),
    "pipelines": Levels((_VIEW, _RUN, _MANAGE, "IS_OWNER"), {_VIEW: _VIEW, _RUN: _RUN, _MANAGE: _MANAGE}),
    "secret_scopes": Levels(("READ", "WRITE", "MANAGE"), {_VIEW: "READ", _MANAGE: "MANAGE"}),
}
_COMMON = (_VIEW, _RUN, _MANAGE)


def inherit_permissions(tree: Node) -> Node:
    """Return `tree` in which every resource of these kinds has the common permissions too.

    A principal's own level on a resource wins when it is the higher one. Raises
    BundleError(PERMISSION_INVALID) for an unknown common level or an entry without exactly one principal.
    """
    common = tree.get("permissions")
    if common is None or not isinstance(common.value, list):
        return tree
    for entry in common.value:
        _require(entry)
    for kind, levels in LEVELS.items():
        for key, resource in tree.section("resources", kind).children.items():
            merged = _merged(resource.get("permissions"), common, levels)
            if merged is not None:
                tree = with_value(tree, ("resources", kind, key, "permissions"), merged)
    return tree


def _require(entry: Node) -> None:
    level = entry.get("level")
    if level is None or level.value not in _COMMON:
        value = level.value if level is not None else "nothing"
        message = f"`{value}` is not a level of the common permissions."
        raise failure(
            "PERMISSION_INVALID",
            (level or entry).position,
            message,
            next_step=unknown_name_hint(str(value), _COMMON, what="levels"),
        )
    if sum(entry.get(name) is not None for name in PRINCIPALS) != 1:
        message = f"a permission names exactly one of {', '.join(PRINCIPALS)}."
        raise failure("PERMISSION_INVALID", entry.position, message)


def _merged(own: Node | None, common: Node, levels: Levels) -> Node | None:
    strongest: dict[tuple[str, str], Node] = {}
    others: list[Node] = []
    for entry in own.value if own is not None and isinstance(own.value, list) else ():
        principal = _principal(entry)
        if principal is None or entry.get("level") is None:
            others.append(entry)
        else:
            _keep(strongest, principal, entry, levels)
    for entry in common.value:
        level = levels.common.get(str(entry.children["level"].value))
        principal = _principal(entry)
        if level is not None and principal is not None:
            translated = Node({**entry.children, "level": lift(level, entry.position)}, entry.position)
            _keep(strongest, principal, translated, levels)
    if not strongest and not others:
        return own
    return Node([*strongest.values(), *others], (own or common).position)


def _keep(
    found: dict[tuple[str, str], Node], principal: tuple[str, str], entry: Node, levels: Levels
) -> None:
    def rank(node: Node) -> int:
        level = str(node.children["level"].value)
        return levels.known.index(level) if level in levels.known else len(levels.known)

    before = found.get(principal)
    if before is None or rank(entry) > rank(before):
        found[principal] = entry


def _principal(entry: Node) -> tuple[str, str] | None:
    for name in PRINCIPALS:
        who = entry.get(name)
        if who is not None:
            return name, str(who.value)
    return None


_IDENTITIES = ("user_name", "service_principal_name")


def inherit_run_as(tree: Node) -> Node:
    """Return `tree` in which jobs and pipelines without `run_as` have the common one.

    Raises BundleError(RUN_AS_INVALID) when it does not name exactly one identity.
    """
    common = tree.get("run_as")
    if common is None:
        return tree
    named = [key for key in _IDENTITIES if common.get(key) is not None]
    if len(named) != 1 or len(common.children) != 1:
        message = "run_as names exactly one of user_name and service_principal_name."
        raise failure("RUN_AS_INVALID", common.position, message)
    for kind in ("jobs", "pipelines"):
        for key, resource in tree.section("resources", kind).children.items():
            if resource.get("run_as") is None:
                tree = with_value(tree, ("resources", kind, key, "run_as"), common)
    return tree
