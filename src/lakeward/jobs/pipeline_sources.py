"""The source files that a pipeline names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.bundle import connector_of
from lakeward.errors import ConfigurationError
from lakeward.session import MOUNT_ADVICE, find_platform_sources, is_platform_path

if TYPE_CHECKING:
    from lakeward.session import Settings


def sources(
    root: Path, key: str, pipeline: Mapping[str, Any], *, settings: Settings | None = None
) -> tuple[Path, ...]:
    """Return the source files and folders that the libraries of `pipeline` name, in their order.

    `folder/**` is the folder. Workspace paths are found as `find_platform_file` describes.

    Args:
        root: The folder of the bundle.
        key: The pipeline's key, for messages.
        pipeline: Its resolved configuration.
        settings: Those with the mounts; default: those of `root`.

    Raises:
        ConfigurationError: SOURCE_NOT_FOUND, PATH_AMBIGUOUS, PIPELINE_NOT_SUPPORTED for a pipeline of
            Lakeflow Connect, or PIPELINE_EMPTY without any library.
    """
    found: list[Path] = []
    for library in pipeline.get("libraries") or ():
        for kind, field in (("glob", "include"), ("file", "path"), ("notebook", "path")):
            if library.get(kind) is None:
                continue
            if not library[kind].get(field):
                message = f"A library of the pipeline {key} is a {kind} without {field}."
                raise ConfigurationError("SOURCE_NOT_FOUND", message, next_step=f"Write {kind}.{field}.")
            found += _matches(root, key, str(library[kind][field]), settings)
    connector = connector_of(pipeline)
    if not found and connector is not None:
        message = f"The pipeline {key} is one of Lakeflow Connect ({connector}), which cannot be run here."
        next_step = (
            "Give the tables that it makes data with `lakeward seed`. `--exclude TASK` runs the other tasks "
            "of a job."
        )
        raise ConfigurationError("PIPELINE_NOT_SUPPORTED", message, next_step=next_step)
    if not found:
        raise ConfigurationError(
            "PIPELINE_EMPTY",
            f"The pipeline {key} has no libraries.",
            next_step="Name its source files in `libraries`.",
        )
    return tuple(dict.fromkeys(found))


def _matches(root: Path, key: str, pattern: str, settings: Settings | None) -> list[Path]:
    if is_platform_path(pattern) and not Path(pattern).is_relative_to(root):
        local = find_platform_sources(pattern, root, settings=settings)
        if local is None:
            message = f"The pipeline {key} names the source {pattern}, and the repository of {root} has none."
            raise ConfigurationError("SOURCE_NOT_FOUND", message, next_step=MOUNT_ADVICE)
        return _matches(root, key, local, settings) if not is_platform_path(local) else [Path(local)]
    if pattern.endswith("/**") and (root / pattern[:-3]).is_dir():
        return [root / pattern[:-3]]
    # Notebooks are named without their extension.
    candidates = [root / pattern, *(root / f"{pattern}{suffix}" for suffix in (".py", ".sql", ".ipynb"))]
    exact = [path for path in candidates if path.exists()]
    # A definition that was deployed names absolute paths.
    start = Path((root / pattern).anchor)
    found = start.glob(str((root / pattern).relative_to(start)))
    matches = exact[:1] or sorted(path for path in found if path.is_file())
    if not matches:
        message = f"The pipeline {key} names the source {pattern}, and there is no such file in {root}."
        raise ConfigurationError(
            "SOURCE_NOT_FOUND",
            message,
            next_step="Paths are resolved relative to the YAML file that declares them.",
        )
    return matches
