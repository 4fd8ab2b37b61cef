"""Artifacts: build the wheels of a bundle, each build with a unique version.

`dynamic_version` rewrites the version in the wheel's METADATA, RECORD and name to `X+<time of the build>`,
so that compute which has the wheel already takes the new one (BN-4.6).
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakeward.bundle.resolved_bundle import Bundle
from lakeward.errors import BundleError

__all__ = ["Artifact", "artifacts_of", "build", "with_version"]

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
    dynamic_version: bool
    is_wheel: bool = True

    def files(self) -> tuple[Path, ...]:
        """Return the files that are there now, in the order of their names."""
        return tuple(sorted({file for pattern in self.patterns for file in self.folder.glob(pattern)}))


def artifacts_of(bundle: Bundle) -> tuple[Artifact, ...]:
    """Return the artifacts of `bundle`, in their order."""
    presets = bundle.config.get("presets") or {}
    dynamic = presets.get("artifacts_dynamic_version") is True
    section: Mapping[str, Mapping[str, Any]] = bundle.config.get("artifacts") or {}
    if bundle.config.get("artifacts") is None and (bundle.root / "setup.py").is_file():
        # Without the section, a project at the root is an artifact (of the bundles before `artifacts:`).
        section = {"python_artifact": {"type": "whl"}}
    found = []
    for key, artifact in section.items():
        folder = bundle.root / str(artifact.get("path") or ".")
        sources = [str(file["source"]) for file in artifact.get("files") or () if file.get("source")]
        # `files` are relative to the bundle after loading, the default is relative to the artifact.
        patterns = tuple(_below(folder, bundle.root / source) for source in sources) or ("dist/*.whl",)
        own = artifact.get("dynamic_version")
        command = artifact.get("build")
        found.append(
            Artifact(
                key,
                folder,
                str(command) if command else None,
                patterns,
                dynamic if own is None else own is True,
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


def with_version(wheel: Path, folder: Path, suffix: str) -> Path:
    """Write a copy of `wheel` into `folder` whose version ends in `+<suffix>`, and return it.

    A version that has a local part already keeps it: `1.0+a` becomes `1.0+a.<suffix>`.
    """
    name, version, *tags = wheel.stem.split("-")
    new = f"{version}{'.' if '+' in version else '+'}{suffix}"
    target = folder / f"{'-'.join([name, new, *tags])}.whl"
    before, after = f"{name}-{version}.dist-info/", f"{name}-{new}.dist-info/"
    folder.mkdir(parents=True, exist_ok=True)
    record: list[tuple[str, str, str]] = []
    unfinished = target.with_suffix(".unfinished")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as fresh:
        for entry in old.infolist():
            content = old.read(entry)
            path = (
                entry.filename.replace(before, after, 1)
                if entry.filename.startswith(before)
                else entry.filename
            )
            if path == f"{after}RECORD":
                continue
            if path == f"{after}METADATA":
                content = content.replace(
                    f"\nVersion: {version}\n".encode(), f"\nVersion: {new}\n".encode(), 1
                )
            moved = zipfile.ZipInfo(path, entry.date_time)
            moved.external_attr, moved.compress_type = entry.external_attr, zipfile.ZIP_DEFLATED
            fresh.writestr(moved, content)
            if not entry.is_dir():
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                record.append((path, f"sha256={digest}", str(len(content))))
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([*record, (f"{after}RECORD", "", "")])
        fresh.writestr(f"{after}RECORD", lines.getvalue())
    return unfinished.replace(target)


def _below(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
