"""Read the root file and everything it includes into one tree (BN-4.2); keys of resources are unique.

Source for the unique keys: https://github.com/databricks/cli/issues/1923 (`run KEY` would be ambiguous).
"""

from __future__ import annotations

import errno
from dataclasses import replace
from functools import reduce
from pathlib import Path

from lakeward.bundle.configuration.merge import merge
from lakeward.bundle.configuration.node import Node, Position, failure
from lakeward.bundle.configuration.yaml_reader import parse
from lakeward.errors import BundleError

ROOT_FILES = ("databricks.yml", "databricks.yaml", "bundle.yml", "bundle.yaml")


def find_root(start: Path) -> Path | None:
    """Return the nearest folder at or above `start` that holds a bundle's root file, or None."""
    for folder in (start, *start.parents):
        if any((folder / name).is_file() for name in ROOT_FILES):
            return folder
    return None


def root_file(root: Path) -> Path:
    """Return the root file of the bundle in folder `root`.

    Raises BundleError for no such file (BUNDLE_NOT_FOUND) or more than one (BUNDLE_AMBIGUOUS).
    """
    found = [root / name for name in ROOT_FILES if (root / name).is_file()]
    if not found:
        raise BundleError(
            "BUNDLE_NOT_FOUND",
            f"{root} contains no databricks.yml.",
            next_step="Change to the folder of a bundle, or run files without one: lakeward pipeline PATH.",
        )
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise BundleError(
            "BUNDLE_AMBIGUOUS", f"{root} has more than one root file: {names}.", next_step="Keep one."
        )
    return found[0]


def read_configuration(root: Path) -> Node:
    """Return the root file of the bundle in `root` with all of its includes merged in.

    Raises BundleError when a file is not YAML, an include names no file, or two files define one resource.
    """
    tree = read_file(root_file(root), root)
    patterns = tree.get("include")
    if patterns is None:
        require_unique(tree)
        return tree
    if not isinstance(patterns.value, list):
        raise failure("INCLUDE_INVALID", patterns.position, "`include` is a list of file patterns.")
    included: dict[Path, None] = {}
    for pattern in patterns.value:
        included.update(dict.fromkeys(_matches(pattern, root)))
    additions = [read_file(file, root) for file in included]
    for addition in additions:
        if "include" in addition.children:
            message = "only the root file may include others."
            raise failure("INCLUDE_INVALID", addition.children["include"].position, message)
    require_unique(tree, *additions)
    repeated = [key for each in (tree, *additions) for key in each.repeated]
    return replace(reduce(merge, additions, tree), repeated=tuple(repeated))


def _matches(pattern: Node, root: Path) -> list[Path]:
    text = str(pattern.value)
    if text.startswith("/") or "${" in text:
        message = f"the include `{text}` must be a path relative to the bundle, without variables."
        raise failure("INCLUDE_INVALID", pattern.position, message)
    found = sorted(path for path in root.glob(text) if path.is_file())
    if not found and not any(sign in text for sign in "*?["):
        message = f"the include `{text}` matches no file in {root}."
        raise failure(
            "INCLUDE_NOT_FOUND", pattern.position, message, next_step="Create the file or drop the line."
        )
    wrong = next((path for path in found if path.suffix not in (".yml", ".yaml", ".json")), None)
    if wrong is not None:
        message = f"the include `{text}` matches {wrong.name}, which is not YAML or JSON."
        raise failure("INCLUDE_INVALID", pattern.position, message)
    return [path for path in found if path.parent != root or path.name not in ROOT_FILES]


def read_file(file: Path, root: Path) -> Node:
    """Return one file below `root` as a tree whose positions are relative to it.

    Raises BundleError when it cannot be read, or is not a YAML (or JSON) mapping.
    """
    name = file.relative_to(root).as_posix()
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise failure(
            "YAML_INVALID", Position(name, 0, 0), f"this file is not UTF-8 ({error.reason})."
        ) from None
    except OSError as error:
        raise failure(
            "FILE_UNREADABLE",
            Position(name, 0, 0),
            f"cannot be read: {error.strerror}.",
            next_step="Give yourself the permission to read it." if error.errno == errno.EACCES else None,
        ) from None
    tree = parse(text, name)
    if not isinstance(tree.value, dict):
        raise failure(
            "YAML_INVALID", tree.position, "the top of this file has to be a mapping (`resources:` …)."
        )
    return tree


def require_unique(*trees: Node) -> None:
    """Raise BundleError(RESOURCE_DUPLICATE) when `trees` together define a resource key more than once.

    Also raises for a resource that is empty or not a mapping (RESOURCE_EMPTY).
    """
    seen: dict[str, tuple[str, Position]] = {}
    for tree in trees:
        for kind, resources in tree.section("resources").children.items():
            for key, resource in resources.children.items():
                name = f"{kind}.{key}"
                if not isinstance(resource.value, dict):
                    found = "nothing" if resource.value is None else "a plain value"
                    message = f"the resource {name} is {found}, where a mapping of its settings is expected."
                    raise failure("RESOURCE_EMPTY", resource.position, message)
                if key in seen:
                    first, place = seen[key]
                    message = f"the key `{key}` is used twice, by {first} (at {place}) and by {name}."
                    next_step = "Keys are unique over all kinds of resources of a bundle: rename one."
                    raise failure("RESOURCE_DUPLICATE", resource.position, message, next_step=next_step)
                seen[key] = (name, resource.position)
