"""Paths of the platform, by the map from them to folders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lakeward.check.model import Fact, Use
from lakeward.check.verdicts.words import SERVED
from lakeward.errors import InvalidPathError
from lakeward.session.paths import PathMap

_FOLDER = Path("/nowhere")


def map_with(mounts: Sequence[tuple[str, str]]) -> PathMap:
    """Return the map of any target of a project with `mounts`."""
    settings: Any = SimpleNamespace(
        dbfs=_FOLDER / "dbfs",
        volumes=_FOLDER / "volumes",
        workspace=_FOLDER / "workspace",
        warehouse=_FOLDER / "warehouse",
        mounts=tuple(mounts),
        root=_FOLDER,
        home=_FOLDER,
        warehouse_dir=None,
    )
    return PathMap.of(settings)


_MAP = map_with(())
# Users cannot write there, so no code of the repository makes these files.
_DATASET = re.compile(r"(?:dbfs:|/dbfs)?/databricks-datasets/+([^/]+)")


def is_test(file: str) -> bool:
    """Return whether pytest's usual patterns or folders make `file` a part of the tests.

    >>> [is_test(name) for name in ("tests/unit/a.py", "src/test_a.py", "src/latest.py", "conftest.py")]
    [True, True, False, True]
    """
    *folders, name = file.split("/")
    stem = name.partition(".")[0]
    return (
        stem.startswith("test_")
        or stem.endswith("_test")
        or stem == "conftest"
        or any(folder in ("test", "tests", "testing") for folder in folders)
    )


def is_mounted(path: str, path_map: PathMap) -> bool:
    """Return whether a mount of the project leads `path` elsewhere than in every project."""
    return path_map.local(path) != _MAP.local(path)


def path(use: Use, path_map: PathMap = _MAP) -> Fact | None:
    """Judge a path: mapped to a folder, or in need of one; None for a bare scheme or a URL in tests."""
    scheme, separator, rest = use.name.partition("://")
    try:
        path_map.local(use.name)
    except InvalidPathError as error:
        if is_test(use.place.file):  # mostly the example of an invalid path
            return None
        return Fact(f"path {use.name}", "refused", f"The path is invalid: {error}.")
    found = _DATASET.match(use.name)
    if found is not None and not is_mounted(use.name, path_map) and not is_test(use.place.file):
        cure = (
            "A dataset of the platform, which is not here: map a folder with its files, "
            "`--mount /databricks-datasets=FOLDER`, or [tool.lakeward.mounts] in pyproject.toml."
        )
        return Fact(f"path /databricks-datasets/{found[1]}", "needs_seed", cure)
    if path_map.local(use.name) != use.name:
        root = (
            "/".join(use.name.split("/")[:2])
            if use.name.startswith("/")
            else use.name.partition("/")[0] + "/"
        )
        return Fact(f"path {root}", "runs_with_lakeward", "Nothing to do: it is mapped to a local folder.")
    if not separator:
        return Fact(f"path {use.name}", "runs_as_is", SERVED)
    if not rest.strip("/"):
        return None
    if is_test(use.place.file):  # most are strings that nothing opens
        return None
    container = f"{scheme}://{rest.partition('/')[0]}"
    cure = f"Map it to a folder: `--mount {container}=FOLDER`, or [tool.lakeward.mounts] in pyproject.toml."
    return Fact(f"path {container}", "needs_seed", cure)
