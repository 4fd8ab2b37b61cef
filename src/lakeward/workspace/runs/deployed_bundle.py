"""The jobs and pipelines of a run as a bundle for the job runner, with ids and wheels of the workspace."""

from __future__ import annotations

import errno
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lakeward.bundle import Bundle, Distribution, read_wheel
from lakeward.errors import ConfigurationError
from lakeward.session import Settings
from lakeward.workspace.runs.run_messages import RunOrder

# What zipfile raises for damaged, encrypted and unsupported archives, and for names that no file can have,
# and importlib.metadata for damaged entry points.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    TypeError,
    EOFError,
    OSError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


@dataclass(frozen=True)
class Deployed(Bundle):
    """`ids` are those of the workspace by kind and key; `wheels` the projects of uploaded ones, by folder.

    `folder` is the run's.
    """

    ids: Mapping[str, Mapping[str, int | str]] = field(default_factory=dict)
    wheels: Mapping[str, Distribution] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def notebook_outcomes(self) -> Path | None:
        """Folder that keeps the outcome of each notebook task."""
        return None if self.folder is None else self.folder / "notebooks"

    def id_of(self, kind: str, key: str) -> int | str:
        """Return the id that the workspace gave."""
        return self.ids[kind][key]

    def entry_point(self, package: str, name: str) -> str:
        """Return what `name` leads to: where there is no such entry point, an attribute of the package.

        Raises BundleError(ARTIFACT_UNKNOWN).
        """
        return self.distribution(package).entry_points.get(name, f"{package}:{name}")

    def distributions(self) -> Mapping[str, Distribution]:
        """Return what the wheels of the job hold."""
        return self.wheels


def bundle_of(order: RunOrder, settings: Settings, folder: Path) -> Bundle:
    """Return the order's jobs and pipelines as a bundle, in the folder of the workspace's files."""
    jobs = order.get("jobs") or {}
    wheels: dict[str, Any] = {}
    for number, job in enumerate(jobs.values()):
        wheels.update(unpacked_wheels(job, folder / "wheels" / str(number)))
    kinds = ("pipelines", "alerts", "dashboards")
    config = {"resources": {"jobs": jobs, **{kind: order.get(kind) or {} for kind in kinds}}}
    return Deployed(
        settings.workspace,
        order["bundle"],
        settings.target,
        None,
        config,
        ids=order.get("ids") or {},
        wheels=wheels,
        folder=folder,
    )


def unpacked_wheels(job: dict[str, Any], folder: Path) -> dict[str, Distribution]:
    """Unpack every wheel that `job` names below `folder`, and let `job` name it there.

    Raises ConfigurationError(WHEEL_NOT_FOUND, WHEEL_INVALID).
    """
    found: dict[str, Distribution] = {}
    moved: dict[str, str] = {}
    for holder, key in _mentions(job):
        wheel = Path(str(holder[key]))
        if str(wheel) not in moved:
            place = folder / str(len(found))
            found[str(place)] = _unpacked(wheel, place)
            moved[str(wheel)] = str(place / wheel.name)
        holder[key] = moved[str(wheel)]
    return found


def _mentions(job: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the places of wheels: a container and the key or index in it."""
    for task in job.get("tasks") or ():
        inner = (task.get("for_each_task") or {}).get("task") or {}
        for library in [*(task.get("libraries") or ()), *(inner.get("libraries") or ())]:
            if "whl" in library:
                yield library, "whl"
    for environment in job.get("environments") or ():
        dependencies = (environment.get("spec") or {}).get("dependencies") or []
        for index, dependency in enumerate(dependencies):
            if str(dependency).endswith(".whl"):
                yield dependencies, index


def _unpacked(wheel: Path, folder: Path) -> Distribution:
    if not wheel.is_file():
        message = f"The job installs the wheel {wheel}, which does not exist."
        raise ConfigurationError("WHEEL_NOT_FOUND", message, next_step="Deploy again.")
    folder.mkdir(parents=True)
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        distribution = read_wheel(wheel)
    except _UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ConfigurationError(
            "WHEEL_INVALID",
            f"{wheel} is not a wheel: {error}.",
            next_step="Build the wheel again, and deploy it.",
        ) from None
    return replace(distribution, source_folders=(folder,))
