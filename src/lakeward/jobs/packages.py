"""The packages that tasks and pipelines declare, as lines of a requirements file.

Source: https://docs.databricks.com/api/workspace/jobs/create (environments, libraries) and
https://docs.databricks.com/aws/en/dev-tools/bundles/library-dependencies
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement

from lakeward.bundle import Bundle, Distribution
from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task, nested_task, tasks_of

if TYPE_CHECKING:
    from lakeward.environments import Layer, Layers
    from lakeward.session import Settings


_OPTION = re.compile(r"(?P<option>(?:-r|-e|-c|--requirement|--editable|--constraint)[= ]\s*)?(?P<path>.*)")


def layer_of_task(
    layers: Layers, bundle: Bundle, job: Mapping[str, Any], task: Task, settings: Settings
) -> Layer | None:
    """Return the layer that `task` runs on; None where lakeward's environment has all it declares.

    Raises ConfigurationError and SetupError with the task's name.
    """
    return _layer(layers, bundle, *packages_of_task(bundle, job, task), settings)


def layer_of_pipeline(layers: Layers, bundle: Bundle, key: str, settings: Settings) -> Layer | None:
    """Return the layer that the pipeline `key` runs on, as `layer_of_task`."""
    return _layer(layers, bundle, *packages_of_pipeline(bundle, key), settings)


def _layer(layers: Layers, bundle: Bundle, lines: list[str], origin: str, settings: Settings) -> Layer | None:
    if not lines:
        return None
    return layers.get(map_workspace_paths(lines, settings), origin=origin, folder=bundle.root)


def projects_of_pipeline(bundle: Bundle, key: str) -> tuple[Path, ...]:
    """Return the folders of the code of the bundle's own projects that the pipeline `key` names."""
    lines = (bundle.pipeline(key).get("environment") or {}).get("dependencies") or ()
    projects = (own_project(bundle, _below_root(bundle, str(line))) for line in lines)
    return tuple(folder for each in projects if each is not None for folder in each.source_folders)


def packages_of_task(bundle: Bundle, job: Mapping[str, Any], task: Task) -> tuple[list[str], str]:
    """Return the lines that `task` declares and where: its environment, its libraries, its pipeline.

    Wheels and folders of the bundle's own projects are replaced by their dependencies: their code is imported
    from where it was built or from its sources.
    """
    if task.kind == "pipeline_task":
        key = bundle.key_of("pipelines", task.spec.get("pipeline_id"))
        return packages_of_pipeline(bundle, key) if key is not None else ([], "")
    environment = [
        str(line)
        for each in job.get("environments") or ()
        if task.environment is not None and each.get("environment_key") == task.environment
        for line in (each.get("spec") or {}).get("dependencies") or ()
    ]
    origin = f"The task `{task.key}`"
    if environment:
        origin += f" (environment `{task.environment}`)"
    lines = [*environment, *task.libraries, *task.packages]
    package = str(task.spec.get("package_name") or "") if task.kind == "python_wheel_task" else ""
    used = [each for each in bundle.distributions().values() if package and each.is_package(package)]
    return list(_resolve_projects(bundle, lines, used)), origin


def packages_of_pipeline(bundle: Bundle, key: str) -> tuple[list[str], str]:
    """Return the lines that the environment and the libraries of the pipeline `key` declare, and where.

    A pipeline of SQL alone runs no Python, and its environment is not installed: the platform's own template
    names a folder there that is not a Python project.
    """
    pipeline = bundle.pipeline(key)
    if not _has_python(bundle, key, pipeline):
        return [], f"The pipeline `{key}`"
    lines = [str(line) for line in (pipeline.get("environment") or {}).get("dependencies") or ()]
    lines += [str(each["whl"]) for each in pipeline.get("libraries") or () if each.get("whl")]
    return list(_resolve_projects(bundle, lines, ())), f"The pipeline `{key}`"


def _has_python(bundle: Bundle, key: str, pipeline: Mapping[str, Any]) -> bool:
    from lakeward.jobs.pipeline_sources import sources

    try:
        found = sources(bundle.root, key, pipeline)
    except ConfigurationError:
        return True
    files = (file for path in found for file in (path.rglob("*") if path.is_dir() else (path,)))
    return any(file.suffix in (".py", ".ipynb") for file in files)


def own_project(bundle: Bundle, text: str) -> Distribution | None:
    """Return the project of the bundle whose wheel or folder `text` names; None for anything else.

    A folder may be editable: `-e ./packaging/name`.
    """
    path = posixpath.normpath(_strip_option(text))
    if not path.endswith(".whl"):
        folders = {posixpath.normpath(place): each for place, each in bundle.distributions().items()}
        return folders.get(path)
    project, pattern = posixpath.basename(path).split("-")[0], "*" in path
    for place, distribution in bundle.distributions().items():
        folder = posixpath.normpath(place)
        below = (folder == "." and not path.startswith(("/", "../"))) or path.startswith(f"{folder}/")
        if below and (pattern or distribution.is_package(project)):
            return distribution
    return None


def _below_root(bundle: Bundle, line: str) -> str:
    """Replace the folder of the bundle's deployed files (`${workspace.file_path}`) by the bundle's root."""
    files = bundle.files_path
    parts = _OPTION.fullmatch(line)
    if not (files and parts) or not f"{parts['path']}/".startswith(f"{files}/"):
        return line
    return f"{parts['option'] or ''}./{posixpath.relpath(parts['path'], files)}"


def _strip_option(line: str) -> str:
    parts = _OPTION.fullmatch(line)
    return parts["path"] if parts else line


def map_workspace_paths(lines: Iterable[str], settings: Settings) -> list[str]:
    """Replace workspace paths (`/Workspace/…`, `/Volumes/…`) by the folders that stand for them here."""
    from lakeward.session import PathMap

    paths = PathMap.of(settings)
    found = []
    for line in lines:
        parts = _OPTION.fullmatch(line)
        local = paths.local_in_workspace(parts["path"]) if parts else None
        found.append(line if parts is None or local is None else f"{parts['option'] or ''}{local}")
    return found


def _resolve_projects(bundle: Bundle, lines: Iterable[str], used: Iterable[Distribution]) -> Iterator[str]:
    projects: dict[Path, Distribution] = {each.file: each for each in used}
    for declared in lines:
        line = _below_root(bundle, declared)
        # A folder may hold wheels of others, which are installed as they are.
        files = [str(file) for file in sorted(bundle.root.glob(line))] if _is_pattern(line) else []
        for each in files or [line]:
            project = own_project(bundle, posixpath.relpath(each, bundle.root) if files else each)
            if project is None:
                yield each
            else:
                projects[project.file] = project
    for project in projects.values():
        for text in _dependencies(project):
            # One wheel of the bundle may require another: no index has it.
            if not any(each.is_package(_name_of(text)) for each in projects.values()):
                yield text


def _name_of(requirement: str) -> str:
    try:
        return Requirement(requirement).name
    except InvalidRequirement:
        return ""


def _is_pattern(line: str) -> bool:
    return line.endswith(".whl") and "*" in line and not line.startswith("/")


def _dependencies(project: Distribution) -> Iterator[str]:
    """Return the dependencies in the metadata of a built wheel, else in the project's file."""
    built = [each for folder in project.source_folders for each in metadata.distributions(path=[str(folder)])]
    built = [each for each in built if project.is_package(each.metadata["Name"] or "")]
    if project.file.suffix == ".whl" or built:
        for text in dict.fromkeys(text for each in built for text in each.requires or ()):
            marker = Requirement(text).marker
            if marker is None or marker.evaluate({"extra": ""}):
                yield text
        return
    from lakeward.environments import requirements_of_project

    yield from requirements_of_project(project.file.parent)


def require_packages(bundle: Bundle, settings: Settings) -> None:
    """Raise ConfigurationError or SetupError for packages of `bundle` that could not be installed.

    Nothing is installed. Files of the workspace are looked for when a run begins, not before.
    """
    from lakeward.environments import Layers

    layers = Layers()
    declared = [
        packages_of_task(bundle, job, nested_task(key, task) if task.kind == "for_each_task" else task)
        for key, job in bundle.jobs.items()
        for task in tasks_of(key, job)
    ]
    declared += [packages_of_pipeline(bundle, key) for key in bundle.pipelines]
    seen: set[tuple[str, ...]] = set()
    for lines, origin in declared:
        named = tuple(line for line in lines if map_workspace_paths([line], settings) == [line])
        if named and named not in seen:
            seen.add(named)
            layers.require_resolvable(named, origin=origin, folder=bundle.root)
