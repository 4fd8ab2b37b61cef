"""Packages of one job task, pipeline or notebook: an environment on top of lakeward's own.

A layer is a virtual environment that holds only what lakeward's own environment lacks, or has in another
version. Its `.pth` file adds lakeward's environment behind its own packages, so pyspark, delta and lakeward
stay importable, and what the layer installs wins over the rest. A process can run on the layer's Python, and
Spark's Python workers do; a running process takes the layer into `sys.path` (`activation`).

Packages that lakeward replaces are never installed, and pins that exclude versions lakeward needs are
relaxed: the same rules as for the tests of a repository (`reconcile_pins`). A layer is found by the hash of
everything that decides its content, built once, and shared by all runs on this machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lakeward.environments.build_plan import find_overrides
from lakeward.environments.declared import read_lines
from lakeward.environments.environment_cache import EnvironmentCache
from lakeward.environments.import_check import COMPILED, PYARROW_FOR_NUMPY_1, require_imports
from lakeward.environments.installation import Installation, own_installation
from lakeward.environments.installed import installed_versions, is_installed
from lakeward.environments.model import Declarations, DeclaredRequirement, Say
from lakeward.environments.pin_overrides import reconcile_pins
from lakeward.environments.provided_packages import STAND_INS
from lakeward.environments.uv_program import Installer, python_of, scripts_of, uv_program
from lakeward.errors import ConfigurationError, LakewardError
from lakeward.session import cache_dir

_BASE = "_lakeward_base.pth"
_ABOUT_PACKAGES = ("DEPENDENCIES_CONFLICT", "DEPENDENCY_NOT_FOUND", "INDEX_NOT_REACHABLE")


@dataclass(frozen=True)
class Layer:
    """An environment in `folder`, whose packages are in `site`."""

    folder: Path
    site: Path

    @property
    def python(self) -> Path:
        """Return the interpreter that sees the layer's packages, then lakeward's."""
        return python_of(self.folder)

    def environ(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return the variables of a process on this layer, whose Spark workers are on it, too."""
        path = os.pathsep.join([str(scripts_of(self.folder)), environ.get("PATH", os.defpath)])
        python = str(self.python)
        return {
            **{key: value for key, value in environ.items() if key != "__PYVENV_LAUNCHER__"},
            "PATH": path,
            "VIRTUAL_ENV": str(self.folder),
            "PYSPARK_PYTHON": python,
            "PYSPARK_DRIVER_PYTHON": python,
        }


@dataclass(frozen=True)
class _Request:
    """What a layer is to hold, after pins were relaxed and stand-ins left out."""

    origin: str
    wanted: tuple[DeclaredRequirement, ...]
    found: Declarations
    own: Installation
    notes: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.found.index_options, *(each.text for each in self.wanted)]))

    @property
    def constraints(self) -> tuple[str, ...]:
        """Return the declared requirements and the versions that lakeward needs in the same process."""
        stated = reconcile_pins(self.found.constraints, self.own.requires).wanted
        texts = [each.text for each in stated if each.requirement and str(each.requirement.specifier)]
        needs = (each for each in self.own.requires if canonicalize_name(each.name) not in STAND_INS)
        return (*texts, *(f"{each.name}{each.specifier}" for each in needs if not each.marker))

    @property
    def overrides(self) -> tuple[str, ...]:
        """Return overrides that install none of the packages that lakeward's own environment replaces."""
        kept = {canonicalize_name(each.requirement.name) for each in self.wanted if each.requirement}
        return tuple(f"{name} ; sys_platform == 'never'" for name in STAND_INS if name not in kept)

    @property
    def keeping_installed(self) -> tuple[str, ...]:
        """Return overrides that leave out installed packages but for directly requested other versions."""
        requested = {
            canonicalize_name(each.requirement.name)
            for each in self.wanted
            if each.requirement is not None and not is_installed(each.requirement)
        }
        names = dict.fromkeys([*STAND_INS, *installed_versions()])
        return tuple(f"{name} ; sys_platform == 'never'" for name in names if name not in requested)

    @property
    def needs_nothing(self) -> bool:
        return all(each.requirement is not None and is_installed(each.requirement) for each in self.wanted)


class Layers:
    """Finds and builds layers; `say` gets decisions: what was relaxed or left out."""

    def __init__(self, *, say: Say = lambda _: None) -> None:
        self._say = say
        self._cache = EnvironmentCache(cache_dir() / "layers")
        self._noted: set[tuple[str, str]] = set()

    def get(self, lines: Sequence[str], *, origin: str, folder: Path) -> Layer | None:
        """Return the layer with the packages that `lines` name, built when it is not there.

        `lines` are those of a requirements file, with paths relative to `folder`; `origin` names their place
        in messages. None where this environment has everything already. Raises ConfigurationError and
        SetupError; a layer that could not be completed leaves nothing behind.
        """
        request = self._request(lines, origin, folder)
        for note in request.notes:
            if (origin, note) not in self._noted:
                self._noted.add((origin, note))
                self._say(f"{origin}: {note}")
        if request.needs_nothing:
            return None
        key = _key(request)
        place = self._cache.find(key)
        if place is None:
            waiting = lambda: self._say(f"{origin}: waiting for another process that builds it")  # noqa: E731
            place = self._cache.make(
                key, lambda new: self._build(request, new), rebuild=False, waiting=waiting
            )
        self._cache.use(key, place)
        return Layer(place, _site(place))

    def require_resolvable(self, lines: Sequence[str], *, origin: str, folder: Path) -> None:
        """Raise what `get` would raise for packages that cannot be found, without installing any."""
        request = self._request(lines, origin, folder)
        if request.needs_nothing:
            return
        key = _key(request)
        if self._cache.find(key) is not None:
            return
        scratch = self._cache.home / f"{key}-resolve-{os.getpid()}"
        try:
            self._resolve(request, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _request(self, lines: Sequence[str], origin: str, folder: Path) -> _Request:
        found = read_lines(lines, origin, folder)
        installation = own_installation()
        reconciled = reconcile_pins(found.wanted, installation.requires)
        wanted = tuple(
            each
            for each in reconciled.wanted
            if each.requirement is None
            or each.requirement.marker is None
            or each.requirement.marker.evaluate({"extra": ""})
        )
        notes = (
            *(f"{each.text} is not installed: {each.why}" for each in reconciled.left_out),
            *(f"relaxed {sentence}" for sentence in reconciled.relaxed),
        )
        return _Request(origin, wanted, found, installation, notes)

    def _resolve(self, request: _Request, folder: Path) -> list[str]:
        """Make the empty environment in `folder`; return the lines to install, each with its version."""
        installer = _installer()
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            installer.create(Path(sys.executable), folder)
            lines = self._compiled(request, request.lines, folder, installer)
            if any(line.startswith("numpy==1.") for line in lines) and not any(
                canonicalize_name(_name(line)) == "pyarrow" for line in lines
            ):
                lines = self._compiled(request, (*request.lines, PYARROW_FOR_NUMPY_1), folder, installer)
        except LakewardError as error:
            raise name_requester(error, request) from None
        return lines

    def _compiled(
        self, request: _Request, lines: Sequence[str], folder: Path, installer: Installer
    ) -> list[str]:
        """Resolve `lines`; where that fails, with fewer demands.

        First all requirements between packages hold. Then what is requested directly, and by
        lakeward, replaces it. At last installed packages are kept whatever others ask of them, which needs no
        index that has them.
        """
        first: LakewardError | None = None
        for overrides, note in (
            (request.overrides, ""),
            (
                (*request.overrides, *find_overrides(request.own, request.wanted)),
                "versions requested directly replace what other packages require",
            ),
            (request.keeping_installed, "packages that are installed already are kept in their version"),
        ):
            try:
                resolved = self._attempt(request, lines, overrides, folder, installer)
            except LakewardError as error:
                first = first or error
                if error.condition not in _ABOUT_PACKAGES:
                    break
                continue
            if note:
                self._say(f"{request.origin}: {note}")
            return resolved
        assert first is not None
        raise first

    def _attempt(
        self,
        request: _Request,
        lines: Sequence[str],
        overrides: Sequence[str],
        folder: Path,
        installer: Installer,
    ) -> list[str]:
        files = {
            "requirements.in": lines,
            "constraints.txt": request.constraints,
            "overrides.txt": overrides,
            # uv prefers the versions in a file that it is to write: what is here is not installed twice.
            "resolved.txt": [f"{name}=={version}" for name, version in installed_versions().items()],
        }
        for name, texts in files.items():
            (folder / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
            # The address of an index may hold a password.
            (folder / name).chmod(0o600)
        resolved = folder / "resolved.txt"
        options = ("-c", str(folder / "constraints.txt"), "--overrides", str(folder / "overrides.txt"))
        installer.compile(folder, folder / "requirements.in", resolved, *options)
        return [line.strip() for line in resolved.read_text(encoding="utf-8").splitlines() if line.strip()]

    def _build(self, request: _Request, folder: Path) -> None:
        try:
            lines = self._resolve(request, folder)
            lacking = [line for line in lines if not _is_here(line)]
            install = folder / "install.txt"
            install.write_text(
                "".join(f"{line}\n" for line in (*request.found.index_options, *lacking)), encoding="utf-8"
            )
            install.chmod(0o600)
            if lacking:
                try:
                    _installer().install(folder, install, "--no-deps")
                except LakewardError as error:
                    raise name_requester(error, request) from None
            _chain(_site(folder))
            _require_imports(Layer(folder, _site(folder)), lacking, request.origin)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _installer() -> Installer:
    return Installer(uv_program(os.environ), lambda _: None, os.environ)


def name_requester(error: LakewardError, request: _Request) -> LakewardError:
    """Return `error` with the place that requested the packages in front, and the packages by name."""
    requested = ", ".join(each.text for each in request.wanted) or "nothing"
    return type(error)(
        error.condition,
        f"{request.origin} requests {requested}: {error.message}",
        next_step=error.next_step,
    )


def _require_imports(layer: Layer, lines: Iterable[str], origin: str) -> None:
    versions = [line for line in lines if canonicalize_name(_name(line)) in COMPILED]
    if versions:
        require_imports(
            [str(layer.python)],
            COMPILED,
            about=f"{origin}: the packages",
            versions=versions,
            next_step="Change the pin of one of them.",
            environ=layer.environ(),
            folder=layer.folder,
        )


def _is_here(line: str) -> bool:
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return False
    return is_installed(requirement)


def _name(line: str) -> str:
    try:
        return Requirement(line).name
    except InvalidRequirement:
        return line


def _key(request: _Request) -> str:
    facts = {
        "python": [sys.prefix, sys.version],
        "own": [request.own.version, str(request.own.package)],
        "base": sorted(f"{name}=={version}" for name, version in installed_versions().items()),
        "lines": sorted(request.lines),
        "constraints": request.constraints,
        "files": [_digest(each.text) for each in request.wanted if each.requirement is None],
    }
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _digest(text: str) -> str:
    """Return a digest that changes when a local package must be installed again."""
    path = Path(text.removeprefix("-e ").partition("[")[0].strip())
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256(text.encode())
    for name in ("pyproject.toml", "setup.py", "setup.cfg"):
        if (path / name).is_file():
            digest.update((path / name).read_bytes())
    if not text.startswith("-e ") and path.is_dir():
        # Not editable: its files are copied, so each of them counts.
        for file in _sources(path):
            digest.update(f"{file}{file.stat().st_mtime_ns}".encode())
    return digest.hexdigest()


def _sources(folder: Path) -> Iterator[Path]:
    ignored = {".git", ".venv", "venv", "__pycache__", "build", "dist", ".lakeward", "node_modules"}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each not in ignored)
        yield from (Path(place, file) for file in sorted(files))


def _site(folder: Path) -> Path:
    """Return the packages' folder of the environment in `folder`, which is for the Python that runs."""
    paths = {"base": str(folder), "platbase": str(folder)}
    return Path(sysconfig.get_path("purelib", "posix_prefix", paths))


def _chain(site: Path) -> None:
    """Let the layer see the packages of this process's environment, behind its own."""
    places = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    folders = [place for place in dict.fromkeys(places) if Path(place).is_dir()]
    if not folders:
        raise ConfigurationError("NOT_INSTALLED", "This Python has no folder of installed packages.")
    calls = "; ".join(f"site.addsitedir({folder!r})" for folder in folders)
    (site / _BASE).write_text(f"import site; {calls}\n", encoding="utf-8")
