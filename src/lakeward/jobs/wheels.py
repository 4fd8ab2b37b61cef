"""The bundle's wheels, built and unpacked: what tasks import is what a deployment would upload."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from lakeward.bundle import Artifact, Bundle, Distribution, artifacts_of, build
from lakeward.environments import build_wheel
from lakeward.errors import BundleError, SetupError

# The project's own backend, called in its folder: as `pip wheel --no-build-isolation`, without pip.
_CALL = (
    "import importlib, sys; sys.path.pop(0); backend = importlib.import_module(sys.argv[1]); "
    "backend.build_wheel(sys.argv[2])"
)


# Commands that do nothing but build the project by its backend, which can be called without them.
_PLAIN = re.compile(
    r"\s*((uv|poetry|hatch|pdm|flit)\s+build|(python3?\s+-m\s+)?(build|pip\s+wheel)"
    r"|(uv\s+run\s+)?python3?\s+(-m\s+build|setup\.py))\b[^;&|`$<>]*"
)


def unpack_wheels(bundle: Bundle, folder: Path) -> dict[str, Path]:
    """Build each wheel of `bundle`, unpack it below `folder`, and return where, by the project's name.

    A project whose build tools are not there is left out: its sources are used. Raises
    BundleError(ARTIFACT_BUILD_FAILED …).
    """
    found: dict[str, Path] = {}
    with tempfile.TemporaryDirectory(prefix="lakeward-wheels-") as scratch:
        for artifact, project in _wheels(bundle):
            if project is not None:
                wheel = _build_wheel(artifact, project, Path(scratch, artifact.key), isolated=False)
                if wheel is not None:
                    found[project.name] = _unpack(wheel, folder / project.name)
    return found


def build_wheels(bundle: Bundle, scratch: Path) -> dict[str, Path]:
    """Return the wheel of each artifact by the artifact's key; `scratch` holds those that no command makes.

    The artifact's command builds it. Without one, or where it only calls a build tool that is not installed,
    the project's build backend does, in an environment of its own. An artifact with files and nothing to
    build them has the newest of its files. Raises BundleError(ARTIFACT_BUILD_FAILED …) with the artifact.
    """
    wheels = {
        artifact.key: _build_wheel(artifact, project, scratch / artifact.key, isolated=True)
        for artifact, project in _wheels(bundle)
    }
    return {key: wheel for key, wheel in wheels.items() if wheel is not None}


def _wheels(bundle: Bundle) -> list[tuple[Artifact, Distribution | None]]:
    projects = bundle.distributions()
    return [
        (each, projects.get(os.path.relpath(each.folder, bundle.root)))
        for each in artifacts_of(bundle)
        if each.is_wheel
    ]


def _build_wheel(
    artifact: Artifact, project: Distribution | None, scratch: Path, *, isolated: bool
) -> Path | None:
    """Return the wheel of `artifact`; None if nothing here builds it and it need not be `isolated`."""
    plain = artifact.command is None or _PLAIN.fullmatch(artifact.command) is not None
    scratch.mkdir()
    if plain and project is not None and project.backend is not None and _is_importable(project.backend):
        return _build_with_backend(artifact, project.backend, scratch)
    has_program = artifact.command is not None and not (plain and _is_missing(artifact))
    if project is None or has_program:
        return _newest(build(artifact, environ=os.environ))
    if not isolated:
        return None
    try:
        return build_wheel(artifact.folder, scratch)
    except SetupError as error:
        message = f"The artifact {artifact.key} could not be built. {error.message}"
        raise BundleError("ARTIFACT_BUILD_FAILED", message, next_step=error.next_step) from None


def _newest(files: Sequence[Path]) -> Path | None:
    return max(
        (file for file in files if file.suffix == ".whl"), key=lambda file: file.stat().st_mtime, default=None
    )


def _is_missing(artifact: Artifact) -> bool:
    """Return whether the program of the artifact's command is not installed."""
    return shutil.which(shlex.split(artifact.command or "")[0]) is None


def _build_with_backend(artifact: Artifact, backend: str, scratch: Path) -> Path | None:
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


def _is_importable(backend: str) -> bool:
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
