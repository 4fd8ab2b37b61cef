"""Puts Delta's jars into the wheel: from LAKEWARD_JARS, lakeward's cache or the Maven repository."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class JarsHook(BuildHookInterface):  # type: ignore[type-arg]
    """The build's step that adds files which only a network or a cache has."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # hatchling's interface
        """Add each jar, once it is known to be the one that Delta's authors published."""
        # Building in isolation, lakeward is not installed: its sources stand beside.
        sys.path.append(str(Path(self.root).parents[1] / "src"))
        from lakeward.errors import LakewardError
        from lakeward.session.jvm.jars import DELTA, delta_jars

        try:
            files = delta_jars()
        except LakewardError as error:
            sys.exit(f"lakeward-jars cannot be built: {error}")
        for jar, file in zip(DELTA, files, strict=True):
            if hashlib.sha256(file.read_bytes()).hexdigest() != jar.sha256:
                why = f"{file} is not the file that Delta's authors published"
                sys.exit(f"lakeward-jars cannot be built: {why}")
            build_data["force_include"][str(file)] = f"lakeward_jars/{jar.name}"
