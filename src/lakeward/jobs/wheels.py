"""The bundle's wheels, built and unpacked: what tasks import is what a deployment would upload."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from lakeward.bundle import Artifact, Bundle, Distribution, artifacts_of, build
from lakeward.errors import BundleError

__all__ = ["built_wheels", "unpacked"]

# The project's own backend, called in its folder: as `pip wheel --no-build-isolation`, without pip.
_CALL = (
    "import importlib, sys; sys.path.pop(0); backend = importlib.import_module(sys.argv[1]); "
    "backend.build_wheel(sys.argv[2])"
)


def unpacked(bundle: Bundle, folder: Path) -> dict[str, Path]:
    """Build each wheel of `bundle`, unpack it below `folder`, and return where, by the project's name.

    The project's backend builds it where it is installed here, else the artifact's command does. A project
    that names neither is left out: its sources are used. Raises BundleError(ARTIFACT_BUILD_FAILED …).
    """
    names = {artifact.key: project.name for artifact, project in _projects(bundle)}
    with tempfile.TemporaryDirectory(prefix="lakeward-wheels-") as scratch:
        wheels = built_wheels(bundle, Path(scratch))
        return {names[key]: _unpack(wheel, folder / names[key]) for key, wheel in wheels.items()}


def built_wheels(bundle: Bundle, scratch: Path) -> dict[str, Path]:
    """Build the wheels of `bundle`, with `scratch` for those that a backend makes; by the artifact's key."""
    found: dict[str, Path] = {}
    for artifact, project in _projects(bundle):
        own = scratch / artifact.key
        own.mkdir()
        wheel = _built(artifact, project, own)
        if wheel is not None:
            found[artifact.key] = wheel
    return found


def _projects(bundle: Bundle) -> list[tuple[Artifact, Distribution]]:
    projects = bundle.distributions()
    named = ((each, projects.get(_relative(each.folder, bundle.root))) for each in artifacts_of(bundle))
    return [(artifact, project) for artifact, project in named if project is not None]


def _relative(folder: Path, root: Path) -> str:
    return os.path.relpath(folder, root)


def _built(artifact: Artifact, project: Distribution, scratch: Path) -> Path | None:
    backend = project.backend
    if backend is not None and _is_there(backend):
        done = subprocess.run(
            [sys.executable, "-c", _CALL, backend, str(scratch)],
            cwd=artifact.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            said = (done.stdout + done.stderr).strip().splitlines()[-10:]
            raise BundleError(
                "ARTIFACT_BUILD_FAILED",
                f"The artifact {artifact.key} could not be built by {backend}:\n" + "\n".join(said),
            )
        return next(iter(sorted(scratch.glob("*.whl"))), None)
    if artifact.command is None:
        return None
    return max(build(artifact, environ=os.environ), key=lambda file: file.stat().st_mtime)


def _is_there(backend: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(backend) is not None
    except ModuleNotFoundError:
        return False


def _unpack(wheel: Path, folder: Path) -> Path:
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(fresh)
    # Each run has a folder of its own: no other process imports from it.
    fresh.rename(folder)
    return folder
