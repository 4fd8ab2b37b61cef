"""Paths of the platform, by the map from them to folders."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lakeward.check.knowledge.words import SERVED
from lakeward.check.model import Fact, Use
from lakeward.session.paths import PathMap

__all__ = ["path"]

_FOLDER = Path("/nowhere")
_SETTINGS: Any = SimpleNamespace(
    dbfs=_FOLDER / "dbfs",
    volumes=_FOLDER / "volumes",
    workspace=_FOLDER / "workspace",
    mounts=(),
    root=_FOLDER,
    home=_FOLDER,
)
_MAP = PathMap.of(_SETTINGS)


def path(use: Use) -> Fact | None:
    """The verdict on a path: mapped to a folder, or in need of a folder; None for a bare scheme."""
    scheme, separator, rest = use.name.partition("://")
    if _MAP.local(use.name) != use.name:
        root = (
            "/".join(use.name.split("/")[:2])
            if use.name.startswith("/")
            else use.name.partition("/")[0] + "/"
        )
        return Fact(
            f"path {root}", "runs_with_lakeward", "Nothing to do: a folder of the target stands for it."
        )
    if not separator:
        return Fact(f"path {use.name}", "runs_as_is", SERVED)
    if not rest.strip("/"):
        return None
    container = f"{scheme}://{rest.partition('/')[0]}"
    cure = f"Name a folder that stands for it: `lakeward pipeline … --mount {container}=FOLDER`."
    return Fact(f"path {container}", "needs_seed", cure)
