"""Add jars to the wheel: Delta's from LAKEWARD_JARS, cache or Maven, and lakeward's compiled classes."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class JarsHook(BuildHookInterface):  # type: ignore[type-arg]
    """The build step that adds files which are not in the repository."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # hatchling's interface
        """Add Delta's jars after a check of their hashes, and the jar with lakeward's Java classes.

        Compiling the classes needs PySpark and a Java runtime, no JDK. An isolated build has no PySpark: its
        wheel has Delta's jars only, and the first session compiles the classes.
        """
        # An isolated build does not install lakeward: import it from the repository.
        sys.path.append(str(Path(self.root).parents[1] / "src"))
        from lakeward.errors import LakewardError
        from lakeward.session.jvm.jars import JARS, pinned_jars

        files: dict[str, Path] = {}
        try:
            for jar, file in zip(JARS, pinned_jars(), strict=True):
                if hashlib.sha256(file.read_bytes()).hexdigest() != jar.sha256:
                    why = f"{file} is not the file that its authors published"
                    sys.exit(f"lakeward-jars cannot be built: {why}")
                files[jar.name] = file
            if importlib.util.find_spec("pyspark"):
                from lakeward.session.spark_context import compiled_jar

                compiled = compiled_jar()
                files[compiled.name] = compiled
        except LakewardError as error:
            sys.exit(f"lakeward-jars cannot be built: {error}")
        for name, file in files.items():
            build_data["force_include"][str(file)] = f"lakeward_jars/{name}"
