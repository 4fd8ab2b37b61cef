"""A pipeline of the bundle, from its definition to an update."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.bundle import Bundle
from lakeward.errors import ConfigurationError
from lakeward.jobs.surroundings import provide

if TYPE_CHECKING:
    from lakeward.pipelines import Progress, Update
    from lakeward.session import Settings

__all__ = ["Selection", "run_pipeline", "sources"]


@dataclass(frozen=True)
class Selection:
    """Which datasets an update is about, and whether it only plans."""

    refresh: tuple[str, ...] = ()
    full_refresh: tuple[str, ...] = ()
    full_refresh_all: bool = False
    dry_run: bool = False
    reset_checkpoints: tuple[str, ...] = ()


def run_pipeline(
    bundle: Bundle,
    key: str,
    *,
    settings: Settings,
    refresh: Sequence[str] = (),
    full_refresh: Sequence[str] = (),
    full_refresh_all: bool = False,
    reset_checkpoints: Sequence[str] = (),
    dry_run: bool = False,
    continuous: bool = False,
    on_event: Callable[[Progress], None] | None = None,
) -> Update:
    """Update the pipeline `key` of `bundle` and return what became of each dataset.

    Schemas and volumes of the bundle are made first. A source that fails, or another process that is at the
    same pipeline, gives an Update that FAILED. Raises ConfigurationError for a key or source that is missing.
    """
    pipeline = bundle.pipeline(key)
    files = sources(bundle.root, key, pipeline)
    provide(bundle, settings)
    # Imported here: a job without pipelines has no need for it.
    from lakeward.pipelines import run

    root = pipeline.get("root_path")
    return run(
        files,
        settings=settings,
        name=str(pipeline.get("name") or key),
        catalog=pipeline.get("catalog"),
        schema=pipeline.get("schema") or pipeline.get("target"),
        configuration={name: str(value) for name, value in (pipeline.get("configuration") or {}).items()},
        root=bundle.root / root if root else None,
        storage=settings.pipelines / key,
        refresh=tuple(refresh),
        full_refresh=tuple(full_refresh),
        full_refresh_all=full_refresh_all,
        reset_checkpoints=tuple(reset_checkpoints),
        dry_run=dry_run,
        continuous=continuous,
        development=bool(pipeline.get("development")),
        on_event=on_event,
    )


def sources(root: Path, key: str, pipeline: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the source files and folders that the libraries of `pipeline` name, in their order.

    `folder/**` is the folder. Raises ConfigurationError when a library names nothing that exists
    (SOURCE_NOT_FOUND) or there is no library at all (PIPELINE_EMPTY).
    """
    found: list[Path] = []
    for library in pipeline.get("libraries") or ():
        for kind, field in (("glob", "include"), ("file", "path"), ("notebook", "path")):
            if kind in library:
                found += _matches(root, key, str(library[kind][field]))
    if not found:
        raise ConfigurationError("PIPELINE_EMPTY", f"The pipeline {key} has no libraries.")
    return tuple(dict.fromkeys(found))


def _matches(root: Path, key: str, pattern: str) -> list[Path]:
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
            "SOURCE_NOT_FOUND", message, next_step="Paths are relative to the file that says them."
        )
    return matches
