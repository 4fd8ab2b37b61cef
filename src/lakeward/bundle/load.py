"""The passes that turn databricks.yml and its includes into a resolved bundle, in their order."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from pathlib import Path

from lakeward.bundle import includes, modes, paths, presets, references, targets, variables, workspace
from lakeward.bundle.identities import identities
from lakeward.bundle.keys import require_unique
from lakeward.bundle.model import Bundle
from lakeward.bundle.near import is_near, suggestion
from lakeward.bundle.node import Node, failure, plain
from lakeward.bundle.permissions import inherit_permissions
from lakeward.bundle.run_as import inherit_run_as

__all__ = ["load", "resolved"]

_SECTIONS = frozenset(
    (
        *(
            "artifacts",
            "bundle",
            "environments",
            "experimental",
            "include",
            "permissions",
            "presets",
            "python",
        ),
        *("resources", "run_as", "scripts", "sync", "targets", "variables", "workspace"),
    )
)
_EARLY = ("bundle", "var", "variables", "workspace", "artifacts")


def load(
    root: Path,
    target: str | None = None,
    variables: Mapping[str, str] = {},
    *,
    user: str | None = None,
    environ: Mapping[str, str] = os.environ,
    assumed: str | None = None,
) -> Bundle:
    """Return the bundle in folder `root` as its `target`.

    Without `target`, DATABRICKS_BUNDLE_TARGET names it, else the file's default does. `variables` are
    values from the command line; `user` is who deploys (default: USER); `assumed` is the value of every
    variable that has none, for those who only look at a bundle. Raises BundleError with file, line and
    column for everything that cannot be read.
    """
    root = root.resolve()
    tree = includes.read(root)
    return resolved(
        tree,
        root=root,
        target=target or environ.get("DATABRICKS_BUNDLE_TARGET") or None,
        given=variables,
        user=user or environ.get("USER") or environ.get("LOGNAME") or _login(),
        environ=environ,
        assumed=assumed,
    )


def resolved(
    tree: Node,
    *,
    root: Path,
    target: str | None,
    given: Mapping[str, str],
    user: str,
    environ: Mapping[str, str],
    confined: bool = True,
    called: str | None = None,
    assumed: str | None = None,
) -> Bundle:
    """Return `tree`, the merged files of a bundle, as the resolved bundle of `target`; see `load`.

    Not `confined`, paths may lead out of `root`. A tree without targets has one that is `called` so.
    """
    _require_sections(tree)
    chosen = called or targets.choose(tree, target)
    tree = targets.select(tree, chosen)
    require_unique(tree)
    name = tree.children["bundle"].get("name")
    if name is None:
        raise failure(
            "BUNDLE_INVALID", tree.position, "the bundle has no name.", next_step="Set bundle.name."
        )
    section = tree.get("workspace")
    explicit_root = section is not None and section.get("root_path") is not None
    tree = workspace.with_defaults(tree, user)
    own = variables.read_overrides(root, chosen)
    tree = variables.assign(tree, given=given, environ=environ, overrides=own, target=chosen, assumed=assumed)
    tree = references.resolve(tree, _EARLY)
    tree = paths.relative_to_root(tree, confined=confined)
    tree = inherit_permissions(inherit_run_as(tree))
    modes.require_mode(tree, explicit_root=explicit_root)
    tree = presets.apply(tree, presets.presets_of(tree))
    tree = references.resolve(tree, ("resources",), identities(tree))
    references.require_resolved(tree, _SECTIONS - {"scripts"})
    mode = tree.children["bundle"].get("mode")
    return Bundle(
        root, str(plain(tree)["bundle"]["name"]), chosen, mode.value if mode else None, plain(tree), tree
    )


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"


def _require_sections(tree: Node) -> None:
    for key, child in tree.children.items():
        # Other unknown sections are ignored, as on the platform: people keep YAML anchors in them.
        if is_near(key, _SECTIONS):
            message = f"a bundle has no section `{key}`."
            raise failure(
                "KEY_UNKNOWN", child.position, message, next_step=suggestion(key, _SECTIONS, what="sections")
            )
        if (
            key in _SECTIONS - {"include", "permissions"}
            and child.value is not None
            and not isinstance(child.value, dict)
        ):
            raise failure("BUNDLE_INVALID", child.position, f"the section `{key}` has to be a mapping.")
    if "bundle" not in tree.children:
        raise failure(
            "BUNDLE_INVALID", tree.position, "there is no section `bundle`.", next_step="Set bundle.name."
        )
