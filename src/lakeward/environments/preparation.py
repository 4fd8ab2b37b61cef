"""From a folder to the environment that its tests run in, with the pytest plugins that its options need."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lakeward.bundle import runtime_here
from lakeward.environments.build_plan import Plan, plan_environment
from lakeward.environments.building import build
from lakeward.environments.environment_cache import EnvironmentCache
from lakeward.environments.imported_packages import ImportedPackage, imported_packages
from lakeward.environments.installation import Installation, own_installation
from lakeward.environments.interpreters import choose_interpreter, relax_bounds
from lakeward.environments.model import Declarations, DeclaredRequirement, LeftOut, Role, Say
from lakeward.environments.repository import (
    has_pipelines_of_dlt,
    has_tests,
    projects_below,
    pytest_settings,
    python_release,
    repository_root,
)
from lakeward.environments.runtime import Pinned, pinned_by_declarations
from lakeward.environments.sources import read_all
from lakeward.environments.sources.reading import read_requirements
from lakeward.environments.uv_program import Installer, python_of, scripts_of, uv_program
from lakeward.errors import UsageError
from lakeward.session import cache_dir, project_table

_PLUGINS: Mapping[str, str] = {
    r"--(no-)?cov(-.*)?": "pytest-cov",
    r"-n(\d+|auto|logical)?|--numprocesses|--dist": "pytest-xdist",
    r"--timeout(-.*)?": "pytest-timeout",
    r"--asyncio-mode": "pytest-asyncio",
    r"--reruns(-.*)?": "pytest-rerunfailures",
    r"--randomly-.*": "pytest-randomly",
    r"--html|--self-contained-html": "pytest-html",
}
"""The plugin that an option needs, by a pattern of the option."""

_HIDES_PIPELINES = "it is PyPI's `dlt`, and hides that of pipelines, which the code imports"


class NoTests(UsageError):
    """pytest would collect nothing; the exit code is pytest's for that."""

    exit_code = 5


@dataclass(frozen=True)
class Environment:
    """A whole environment for the tests of the repository in `root`; `made` when it was built just now.

    `pinned` is the runtime that the repository's pins are for, where nothing else says which.
    """

    root: Path
    folder: Path
    made: bool
    plan: Plan
    cache: EnvironmentCache
    pinned: Pinned | None = None

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of pytest in this environment."""
        return [str(python_of(self.folder)), "-m", "pytest", *arguments]

    def environ(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return the user's environment variables with this environment's programs first on PATH."""
        changed = {
            key: value
            for key, value in environ.items()
            # Spark's workers run on the Python of the tests.
            if key not in ("PYTHONHOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "__PYVENV_LAUNCHER__")
        }
        path = os.pathsep.join([str(scripts_of(self.folder)), environ.get("PATH", os.defpath)])
        if self.pinned is not None:
            changed["LAKEWARD_PINNED_RUNTIME"] = self.pinned.runtime
        # The program of uv stays behind: scripts belong to the environment that they were installed in.
        changed["UV"] = uv_program(environ)
        return {**changed, "VIRTUAL_ENV": str(self.folder), "PATH": path}

    def hold(self) -> None:
        """Keep it from being thrown away until this process, or the one that takes its place, ends."""
        self.cache.use(self.plan.key, self.folder)


def prepare_environment(
    folder: Path,
    *,
    say: Say,
    show: Say = lambda _: None,
    rebuild: bool = False,
    arguments: Sequence[str] = (),
    added: Sequence[str] = (),
    excluded: Sequence[str] = (),
    tests: bool = True,
) -> Environment:
    """Return the environment for the tests of the repository around `folder`; create it if missing.

    `say` receives each decision, `show` each line of the installer; `arguments` are pytest's. `added` are
    further requirements; `excluded` are names of packages to leave out, whichever package requires them.
    Without `tests` the repository need not have any. Raises NoTests, ConfigurationError and SetupError; an
    incomplete environment is removed.
    """
    root = repository_root(folder)
    if tests and not arguments and not has_tests(root):
        raise NoTests(
            "NO_TESTS",
            f"There are no tests below {root}: no file is called test_*.py or *_test.py.",
            next_step="Write one, or name the files: lakeward test PATH.",
        )
    if tests and (inner := projects_below(root)):
        folders = ", ".join(str(each.relative_to(root)) for each in inner)
        say(
            f"{root.name} declares no packages; folders with tests in it do: {folders}. To have what one of "
            f"them declares: cd {inner[0].relative_to(root)}"
        )
    found = read_all(root)
    plugins = missing_plugins(pytest_settings(root), arguments, found.wanted)
    found += Declarations(plugins)
    if any(each.requirement and each.requirement.name == "dlt" for each in found.wanted):
        found = _without(found, {"dlt": _HIDES_PIPELINES} if has_pipelines_of_dlt(root) else {})
    found = _without(
        found + read_requirements(added, "--with", Role.RUN, root), dict.fromkeys(excluded, "--without")
    )
    installation = own_installation()
    named = os.environ.get("LAKEWARD_PROFILE") or runtime_here(root) or project_table(root).get("runtime")
    pinned = None if named else pinned_by_declarations(found)
    imported = _imported(found, root, pinned.runtime if pinned else named)
    planned = _plan(found, root, installation, imported)
    cache = EnvironmentCache(cache_dir() / "environments")
    there = None if rebuild else cache.find(planned.key)
    if there is not None:
        return Environment(root, there, False, planned, cache, pinned)
    began = time.monotonic()
    for sentence in _decisions(planned, pinned, plugins):
        say(sentence)

    def make(place: Path) -> None:
        build(planned, installation, place, Installer(uv_program(), show), say)

    wait = lambda: say("another process is making this environment; waiting for it")  # noqa: E731
    place = cache.make(planned.key, make, rebuild=rebuild, waiting=wait)
    say(f"the environment is there after {time.monotonic() - began:.0f} s, and is used from now on: {place}")
    return Environment(root, place, True, planned, cache, pinned)


def _imported(found: Declarations, root: Path, runtime: str | None) -> tuple[ImportedPackage, ...]:
    """Return the packages of the runtime that the code imports and no declaration names."""
    declared = {each.requirement.name for each in found.wanted if each.requirement is not None}
    named = {canonicalize_name(each) for each in (*declared, *found.excluded)}
    return tuple(
        each
        for each in imported_packages(root, runtime)
        if canonicalize_name(each.package.package) not in named
    )


def _plan(
    found: Declarations, root: Path, installation: Installation, imported: tuple[ImportedPackage, ...]
) -> Plan:
    """Plan the environment of these requirements, with a Python that satisfies all of them."""
    bounds, relaxed = relax_bounds(found.python, installation.python)
    interpreter = choose_interpreter(
        bounds, installation.python, uv=uv_program(), preferred=python_release(root)
    )
    planned = plan_environment(found, root, installation, interpreter, imported)
    return replace(planned, relaxed=(*relaxed, *planned.relaxed))


def _without(found: Declarations, excluded: Mapping[str, str]) -> Declarations:
    """Return `found` without packages of these names, which are not installed as dependencies either.

    The values of `excluded` are the reasons.
    """
    reasons = {canonicalize_name(name): why for name, why in excluded.items()}
    kept: list[DeclaredRequirement] = []
    left_out = list(found.left_out)
    for each in found.wanted:
        why = reasons.get(canonicalize_name(each.requirement.name)) if each.requirement else None
        if why is None:
            kept.append(each)
        else:
            left_out.append(LeftOut(each.text, each.origin, why))
    names = dict.fromkeys((*found.excluded, *reasons))
    return replace(found, wanted=tuple(kept), left_out=tuple(left_out), excluded=tuple(names))


def _decisions(planned: Plan, pinned: Pinned | None, plugins: Iterable[DeclaredRequirement]) -> Iterator[str]:
    """Yield what the environment has and lacks, with the reasons."""
    version = ".".join(planned.interpreter.version.split(".")[:2])
    yield f"an environment for {planned.root.name}, with Python {version} and uv"
    by_reason: dict[str, list[str]] = {}
    for each in planned.left_out:
        by_reason.setdefault(each.why, []).append(f"{each.text} ({each.origin})")
    for why, texts in by_reason.items():
        yield f"left out {', '.join(dict.fromkeys(texts))}: {why}"
    for sentence in planned.relaxed:
        yield f"relaxed {sentence}"
    if pinned is not None:
        yield (
            f"as on runtime {pinned.runtime}, {pinned.reason}; --runtime or `runtime` in [tool.lakeward] of "
            "pyproject.toml chooses another one"
        )
    for plugin in plugins:
        yield f"added {plugin.text}, for {plugin.origin}"


def missing_plugins(
    settings: Mapping[str, Any], arguments: Sequence[str], wanted: Iterable[DeclaredRequirement]
) -> tuple[DeclaredRequirement, ...]:
    """Return requirements of plugins whose options are in `addopts` or on the command line.

    Without them pytest would refuse its own configuration: in many repositories only the CI installs them.
    """
    named = {canonicalize_name(each.requirement.name) for each in wanted if each.requirement}
    found: dict[str, DeclaredRequirement] = {}
    for origin, words in (("addopts", _words(settings.get("addopts"))), ("the command line", arguments)):
        for word in words:
            option = word.split("=")[0]
            for pattern, plugin in _PLUGINS.items():
                if re.fullmatch(pattern, option) and canonicalize_name(plugin) not in named:
                    found.setdefault(
                        plugin,
                        DeclaredRequirement(plugin, f"{option} of {origin}", requirement=Requirement(plugin)),
                    )
    return tuple(found.values())


def _words(addopts: object) -> list[str]:
    if not isinstance(addopts, str):
        return [str(each) for each in addopts] if isinstance(addopts, list) else []
    try:
        return shlex.split(addopts)
    except ValueError:
        # pytest reports the error.
        return []
