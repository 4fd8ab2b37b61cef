"""Resources and mutators in Python (`python:` in databricks.yml), executed by the package databricks-bundles.

The package is installed in the user's environment. `python -m databricks.bundles.build` reads the
configuration as JSON and writes the configuration with the result, diagnostics, and the places of the code.
Two phases run: `load_resources` adds resources, `apply_mutators` changes those of YAML and Python.
Source: https://docs.databricks.com/aws/en/dev-tools/bundles/python
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, TypeAlias

from lakeward.bundle.configuration.findings import Finding
from lakeward.bundle.configuration.node import Node, Path, Position, failure, lift, plain, show, with_value
from lakeward.errors import BundleError

RESTRICTED = "DATABRICKS_BUNDLE_RESTRICTED_CODE_EXECUTION"
_MODULE = "databricks.bundles.build"
_PACKAGE = "databricks-bundles"
_TAIL = 30

Step: TypeAlias = "Callable[[Node], Node]"


@dataclass(frozen=True)
class PythonCode:
    """The section `python` of a bundle: functions as `module:name`, and the virtual environment."""

    position: Position
    venv_path: str | None
    resources: tuple[str, ...]
    mutators: tuple[str, ...]

    @property
    def functions(self) -> tuple[str, ...]:
        """Return all functions to call."""
        return (*self.resources, *self.mutators)


def python_code_of(tree: Node) -> PythonCode | None:
    """Return the section `python`, or `experimental.python`; None for a bundle without functions.

    Raises BundleError(PYTHON_INVALID) when both differ, or for a section of another form.
    """
    experimental = tree.section("experimental")
    old, former = experimental.get("python"), experimental.get("pydabs")
    if former is not None:
        raise failure(
            "PYTHON_INVALID",
            former.position,
            "`experimental.pydabs` is not supported any more.",
            next_step="Name the functions under `python: resources:`.",
        )
    section = tree.get("python")
    if section is not None and old is not None and plain(section) != plain(old):
        message = "`python` and `experimental.python` exclude each other."
        raise failure("PYTHON_INVALID", old.position, message, next_step="Keep `python` alone.")
    section = section or old
    if section is None:
        return None
    venv = section.get("venv_path")
    code = PythonCode(
        section.position,
        str(venv.value) if venv is not None else None,
        tuple(_functions(section, "resources")),
        tuple(_functions(section, "mutators")),
    )
    return code if code.functions else None


def _functions(section: Node, name: str) -> Iterator[str]:
    names = section.get(name)
    if names is None:
        return
    for each in names.value if isinstance(names.value, list) else (names,):
        if not isinstance(each.value, str) or each.value.count(":") != 1:
            message = f"python.{name} is a list of functions, each as `module:name`."
            raise failure("PYTHON_INVALID", each.position, message)
        yield each.value


def add_python_resources(
    tree: Node,
    code: PythonCode,
    *,
    root: FilePath,
    environ: Mapping[str, str],
    initialize: Step,
    normalize: Step,
) -> tuple[Node, tuple[Finding, ...]]:
    """Run the Python code of a bundle and return `tree` with its resources, and the warnings of the code.

    Args:
        tree: The configuration of the target with variables resolved, presets and permissions applied.
        code: What to run.
        root: The folder of the bundle, in which the code runs.
        environ: The environment of the code.
        initialize: Applied to a tree with only the added resources, as was done to those of YAML.
        normalize: Applied to a tree with only the changed resources.

    Raises:
        BundleError: PYTHON_RESTRICTED, PYTHON_ENVIRONMENT_MISSING, PYTHON_PACKAGE_MISSING, or PYTHON_FAILED
            with what the code reported.
    """
    if environ.get(RESTRICTED):
        message = f"the Python code of the bundle is not executed, because {RESTRICTED} is set."
        raise failure("PYTHON_RESTRICTED", code.position, message, next_step=f"Unset {RESTRICTED}.")
    interpreter = _interpreter(code, root, environ)
    warnings: list[Finding] = []
    for phase, wanted in (("load_resources", code.resources), ("apply_mutators", code.mutators)):
        if not wanted:
            continue
        result = _run(phase, tree, code, interpreter, root, environ)
        warnings += result.warnings
        tree = _applied(phase, tree, result, code, initialize if phase == "load_resources" else normalize)
    return tree, tuple(warnings)


def _interpreter(code: PythonCode, root: FilePath, environ: Mapping[str, str]) -> str:
    if code.venv_path is None:
        found = shutil.which("python3", path=environ.get("PATH"))
        if found is None:
            message = "the Python code of the bundle needs `python3`, which is not on the PATH."
            raise failure("PYTHON_ENVIRONMENT_MISSING", code.position, message, next_step=_cure(code, root))
        return found
    folder = root / code.venv_path
    for name in ("bin/python3", "bin/python", "Scripts/python.exe"):
        if (folder / name).exists():
            return str(folder / name)
    message = f"python.venv_path is `{code.venv_path}`, but {folder} is not a virtual environment."
    raise failure("PYTHON_ENVIRONMENT_MISSING", code.position, message, next_step=_cure(code, root))


def _cure(code: PythonCode, root: FilePath) -> str:
    """Return the command that makes an environment with the package."""
    venv = code.venv_path or ".venv"
    project = root / "pyproject.toml"
    if project.is_file() and _PACKAGE in project.read_text(encoding="utf-8", errors="replace"):
        prefix = "" if venv == ".venv" else f"UV_PROJECT_ENVIRONMENT={venv} "
        made = f"In {root}: `{prefix}uv sync`, which installs {_PACKAGE} as pyproject.toml declares it"
        return f"{made}; or `python3 -m venv {venv} && {venv}/bin/pip install {_PACKAGE}`."
    made = f"In {root}: `python3 -m venv {venv} && {venv}/bin/pip install {_PACKAGE}`"
    return made + (". Then set python.venv_path to it." if code.venv_path is None else ".")


@dataclass(frozen=True)
class _Result:
    config: Mapping[str, Any]
    locations: Mapping[str, Position]
    warnings: tuple[Finding, ...]


def _run(
    phase: str, tree: Node, code: PythonCode, interpreter: str, root: FilePath, environ: Mapping[str, str]
) -> _Result:
    config = plain(tree)
    if "python" in config:
        # Versions of the package before 0.275 read the section under its former name.
        config["experimental"] = {**(config.get("experimental") or {}), "python": config["python"]}
    with tempfile.TemporaryDirectory(prefix="lakeward-python-") as folder:
        files = {name: FilePath(folder, f"{name}.json") for name in ("input", "output", "diagnostics")}
        places = FilePath(folder, "locations.json")
        files["input"].write_text(json.dumps(config), encoding="utf-8")
        command = [interpreter, "-m", _MODULE, "--phase", phase]
        for name, file in (*files.items(), ("locations", places)):
            command += [f"--{name}", str(file)]
        done = subprocess.run(
            command,
            cwd=root,
            env={**environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        diagnostics = list(_lines(files["diagnostics"]))
        _refuse(diagnostics, code)
        output = next(iter(_lines(files["output"])), None)
        if done.returncode or not isinstance(output, dict):
            raise _process_error(done, code, interpreter, root)
        locations = {str(each["path"]): _position(each, code) for each in _lines(places)}
    warnings = tuple(
        Finding("python", "warning", _position(each.get("location"), code), _text(each), "")
        for each in diagnostics
    )
    return _Result(output, locations, warnings)


def _lines(file: FilePath) -> Iterator[Any]:
    """Yield the JSON values of a file, one a line; nothing for a file that is missing."""
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


def _refuse(diagnostics: list[Any], code: PythonCode) -> None:
    errors = [each for each in diagnostics if each.get("severity") == "error"]
    if errors:
        first = errors[0]
        texts = "\n".join(_text(each) for each in errors)
        raise failure("PYTHON_FAILED", _position(first.get("location"), code), texts)


def _text(diagnostic: Mapping[str, Any]) -> str:
    summary, detail = str(diagnostic.get("summary") or ""), str(diagnostic.get("detail") or "").strip()
    where = f" ({diagnostic['path']})" if diagnostic.get("path") else ""
    return f"{summary.rstrip('.')}{where}." + (f"\n{detail}" if detail else "")


def _position(place: object, code: PythonCode) -> Position:
    if not isinstance(place, Mapping) or not place.get("file"):
        return code.position
    return Position(str(place["file"]), int(place.get("line") or 0), int(place.get("column") or 1))


def _process_error(
    done: subprocess.CompletedProcess[bytes], code: PythonCode, interpreter: str, root: FilePath
) -> BundleError:
    errors = done.stderr.decode(errors="replace").strip()
    if f"finding module specification for '{_MODULE}'" in errors or f"No module named '{_MODULE}'" in errors:
        message = f"the package {_PACKAGE} is not installed in {interpreter}, which python.venv_path names."
        if code.venv_path is None:
            message = f"the package {_PACKAGE} is not installed for {interpreter}, the first on the PATH."
        return failure("PYTHON_PACKAGE_MISSING", code.position, message, next_step=_cure(code, root))
    tail = "\n".join(errors.splitlines()[-_TAIL:]) or "It printed nothing."
    message = f"the Python code of the bundle ended with exit code {done.returncode}.\n{tail}"
    return failure("PYTHON_FAILED", code.position, message)


def _applied(phase: str, tree: Node, result: _Result, code: PythonCode, initialize: Step) -> Node:
    """Return `tree` with what the code has added or changed, each passed through `initialize`."""
    before = dict(_resources(tree))
    after: dict[Path, Any] = {
        ("resources", str(kind), str(key)): resource
        for kind, resources in (result.config.get("resources") or {}).items()
        for key, resource in (resources or {}).items()
    }
    changed = {
        path: node
        for path, resource in after.items()
        if (node := _changed_resource(phase, path, resource, before, result, code)) is not None
    }
    gone = [path for path in before if path not in after and plain(before[path])]
    if gone:
        raise failure(
            "PYTHON_FAILED", code.position, f"the Python code removed {', '.join(map(_name, gone))}."
        )
    if not changed:
        return tree
    part = Node({**tree.children, "resources": Node({}, code.position)}, tree.position)
    for path, node in changed.items():
        part = with_value(part, path, node)
    for path, node in _resources(initialize(part)):
        tree = with_value(tree, path, node)
    return tree


def _changed_resource(
    phase: str, path: Path, resource: object, before: Mapping[Path, Node], result: _Result, code: PythonCode
) -> Node | None:
    """Return a resource that the code has added or changed, None for one that is as before.

    Args:
        phase: `load_resources`, which only adds, or a phase of mutators, which only change.
        path: The path of the resource.
        resource: Its settings after the phase.
        before: The resources before the phase.
        result: The result of the phase.
        code: The code of the bundle.

    Raises:
        BundleError: The code did what the phase does not allow.
    """
    place = _place_of(path, result, before, code)
    adds = phase == "load_resources"
    if path not in before:
        if adds:
            return _located(resource, path, result.locations, place)
        message = f"a mutator added {_name(path)}; mutators only change resources."
        raise failure("PYTHON_FAILED", place, message)
    if not _differs(before[path], resource):
        return None
    if adds:
        message = f"{_name(path)} is defined both in Python and at {before[path].position}."
        raise failure("RESOURCE_DUPLICATE", place, message, next_step="Rename one of them.")
    return _overlaid(before[path], resource, path, result.locations, place)


def _resources(tree: Node) -> Iterator[tuple[Path, Node]]:
    for kind, resources in tree.section("resources").children.items():
        for key, resource in resources.children.items():
            yield ("resources", kind, key), resource


def _name(path: Path) -> str:
    return f"{path[1]}.{path[2]}"


def _place_of(path: Path, result: _Result, before: Mapping[Path, Node], code: PythonCode) -> Position:
    known = result.locations.get(".".join(map(str, path)))
    return known or (before[path].position if path in before else code.position)


def _differs(node: Node, value: object) -> bool:
    return bool(_compact(plain(node)) != _compact(value))


def _compact(value: object) -> Any:
    """Return `value` without what the package leaves out: empty mappings, lists and values."""
    if isinstance(value, Mapping):
        entries = {key: _compact(child) for key, child in value.items()}
        return {key: child for key, child in entries.items() if child is not None and child not in ({}, [])}
    if isinstance(value, list):
        return [_compact(child) for child in value]
    return value


def _located(value: object, path: Path, locations: Mapping[str, Position], place: Position) -> Node:
    """Return plain `value` as a tree, each node at the nearest known place of the code."""
    here = locations.get(show(path), place)
    if isinstance(value, Mapping):
        entries = {str(k): _located(each, (*path, str(k)), locations, here) for k, each in value.items()}
        return Node(entries, here)
    if isinstance(value, list):
        return Node([_located(each, (*path, n), locations, here) for n, each in enumerate(value)], here)
    return lift(value, here)


def _overlaid(
    node: Node, value: object, path: Path, locations: Mapping[str, Position], place: Position
) -> Node:
    """Return `value` as a tree that keeps the nodes of `node`, with their places, where nothing changed."""
    if not _differs(node, value):
        return node
    if isinstance(node.value, dict) and isinstance(value, Mapping):
        entries = {
            str(key): _overlaid(node.value[key], child, (*path, key), locations, place)
            if key in node.value
            else _located(child, (*path, key), locations, place)
            for key, child in value.items()
        }
        return Node(entries, node.position)
    return _located(value, path, locations, place)
