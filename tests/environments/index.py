"""A machine without a network: packages come from a folder of wheels alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.environments.conftest import make_wheel

__all__ = ["use_folder_index"]


def use_folder_index(
    monkeypatch: pytest.MonkeyPatch, folder: Path, wheels: Mapping[tuple[str, str], tuple[str, ...]]
) -> Path:
    """Let this process install from a new folder with `wheels` (name and version: requirements) alone."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    places = folder / "wheels"
    for (name, version), requires in wheels.items():
        make_wheel(places, name, version, requires=requires)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(places))
    monkeypatch.setenv("LAKEWARD_CACHE", str(folder / "cache"))
    return places
