"""Artifacts: build the wheels of a bundle.

`dynamic_version` (BN-4.6) has no effect here: every run unpacks the wheels of its deployment.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakeward.bundle.resolved_bundle import Bundle
from lakeward.errors import BundleError

_TAIL = 30


@dataclass(frozen=True)
class Artifact:
    """One artifact: where it is built, by which command, and which files come out of it.

    `is_wheel`: it is a Python wheel, the only type that a local deployment builds.
    """

    key: str
    folder: Path
    command: str | None
    patterns: tuple[str, ...]
    is_wheel: bool = True

    def files(self) -> tuple[Path, ...]:
        """Return the files that are there now, in the order of their names."""
        return tuple(sorted({file for pattern in self.patterns for file in self.folder.glob(pattern)}))


def artifacts_of(bundle: Bundle) -> tuple[Artifact, ...]:
    """Return the artifacts of `bundle`, in their order."""
    section: Mapping[str, Mapping[str, Any] | None] = bundle.config.get("artifacts") or {}
    if bundle.config.get("artifacts") is None and (bundle.root / "setup.py").is_file():
        # Without the section, a project at the root is an artifact (of the bundles before `artifacts:`).
        section = {"python_artifact": {"type": "whl"}}
    found = []
    for key, given in section.items():
        artifact = given or {}
        folder = bundle.root / str(artifact.get("path") or ".")
        sources = [str(file["source"]) for file in artifact.get("files") or () if file.get("source")]
        # `files` are relative to the bundle after loading, the default is relative to the artifact.
        patterns = tuple(_below(folder, bundle.root / source) for source in sources) or ("dist/*.whl",)
        command = artifact.get("build")
        found.append(
            Artifact(
                key,
                folder,
                str(command) if command else None,
                patterns,
                artifact.get("type") == "whl" or all(pattern.endswith(".whl") for pattern in patterns),
            )
        )
    return tuple(found)


def build(artifact: Artifact, *, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Run the artifact's command in its folder and return the files that are there afterwards.

    Without a command nothing is run. Raises BundleError: ARTIFACT_FOLDER_MISSING, ARTIFACT_BUILD_FAILED with
    the end of the command's output, ARTIFACT_EMPTY if it created no file.
    """
    if not artifact.folder.is_dir():
        raise BundleError(
            "ARTIFACT_FOLDER_MISSING",
            f"The artifact {artifact.key} is built in {artifact.folder}, which does not exist.",
            next_step=f"Set artifacts.{artifact.key}.path.",
        )
    if artifact.command is not None:
        done = subprocess.run(
            ["/bin/sh", "-c", artifact.command],
            cwd=artifact.folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            said = done.stdout.decode(errors="replace").strip().splitlines()[-_TAIL:]
            raise BundleError(
                "ARTIFACT_BUILD_FAILED",
                f"The artifact {artifact.key} could not be built: `{artifact.command}` ended with "
                f"{done.returncode}.\n" + "\n".join(said),
            )
    files = artifact.files()
    if not files:
        raise BundleError(
            "ARTIFACT_EMPTY",
            f"The artifact {artifact.key} has no files: nothing in {artifact.folder} matches "
            f"{', '.join(artifact.patterns)}.",
            next_step="Name its files under `files:`, or the command that makes them under `build:`.",
        )
    return files


def _below(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
