"""uv as lakeward runs it: interpreters, virtual environments, resolution, installation.

Source: https://docs.astral.sh/uv/reference/cli/ and https://docs.astral.sh/uv/pip/compatibility/
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lakeward.environments.indexes import index_is_refused, uv_index_variables
from lakeward.environments.install_errors import install_error
from lakeward.environments.model import Say
from lakeward.environments.scm_versions import local_projects, version_variables
from lakeward.errors import SetupError

# They lead another Python astray.
_ASTRAY = {
    *("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"),
    *("__PYVENV_LAUNCHER__", "VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON"),
}


def uv_program(environ: Mapping[str, str] = os.environ) -> str:
    """Return the path of uv: the one installed with lakeward, else `$UV`, else the one on PATH.

    Raises SetupError(UV_NOT_FOUND).
    """
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        pass
    found = environ.get("UV") or shutil.which("uv", path=environ.get("PATH", os.defpath))
    if found is None:
        raise SetupError(
            "UV_NOT_FOUND",
            "Packages are installed with uv, and neither the package nor a program `uv` is there.",
            next_step="pip install uv",
        )
    return found


def clean_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` without the variables that point to another environment."""
    return {key: value for key, value in environ.items() if key not in _ASTRAY}


def scripts_of(folder: Path) -> Path:
    """Return the folder of the programs of the environment in `folder`."""
    return folder / "bin"


def python_of(folder: Path) -> Path:
    """Return the Python of the environment in `folder`."""
    return scripts_of(folder) / "python"


@dataclass(frozen=True)
class Installer:
    """Runs uv on one environment at a time.

    `show` is called with each line that uv prints. A failed command raises `install_error`, and its whole
    output is kept in a log file next to the environment.
    """

    uv: str
    show: Say = lambda _: None
    environ: Mapping[str, str] | None = None

    def create(self, python: Path, folder: Path) -> None:
        """Make an empty environment in `folder` for the interpreter `python`."""
        self._run(["venv", "--no-project", "-p", str(python), str(folder)], folder)

    def compile(self, folder: Path, requirements: Path, output: Path, *options: str) -> None:
        """Resolve `requirements` into `output`; versions that `output` holds before are preferred."""
        settings = ["--no-header", "--no-annotate", "--quiet", "--python", str(python_of(folder))]
        self._run(
            ["pip", "compile", *self._offline(), *settings, *options, str(requirements), "-o", str(output)],
            folder,
            local_projects(requirements),
        )

    def install(self, folder: Path, requirements: Path, *options: str) -> None:
        """Install the lines of `requirements`; installed packages that satisfy them stay."""
        arguments = [*self._offline(), *options, "-r", str(requirements)]
        self._pip(folder, "install", *arguments, projects=local_projects(requirements))

    def install_in_place(self, folder: Path, project: Path) -> None:
        """Install the package in `project` so that its files are used where they are.

        uv takes brackets at the end of a path for extras; in a URI they are quoted.
        """
        place = project.resolve()
        arguments = [*self._offline(), "--no-deps", "-e", place.as_uri()]
        self._pip(folder, "install", *arguments, projects=(place,))

    def replace(self, folder: Path, names: Sequence[str], by: Sequence[str]) -> None:
        """Remove the packages `names`, then install the requirements `by` again."""
        self._pip(folder, "uninstall", *names)
        self._pip(folder, "install", *self._offline(), "--no-deps", "--reinstall", *by)

    def _offline(self) -> list[str]:
        return ["--no-index"] if index_is_refused(self._environ()) else []

    def _environ(self) -> Mapping[str, str]:
        return os.environ if self.environ is None else self.environ

    def _pip(self, folder: Path, command: str, *arguments: str, projects: Iterable[Path] = ()) -> None:
        self._run(["pip", command, "--python", str(python_of(folder)), *arguments], folder, projects)

    def _run(self, arguments: Sequence[str], folder: Path, projects: Iterable[Path] = ()) -> None:
        command = [self.uv, *arguments]
        environ = clean_environ(self._environ())
        environ |= {**uv_index_variables(environ), "VIRTUAL_ENV": str(folder), "NO_COLOR": "1"}
        environ |= version_variables(projects, environ)
        environ.pop("COLUMNS", None)  # uv 0.13 and newer wrap messages at that width
        # /tmp is often a small file system of its own; the environment's disk has to have the room anyway.
        scratch = folder.with_name(f"{folder.name}.tmp")
        try:
            scratch.mkdir(parents=True, exist_ok=True)
            environ["TMPDIR"] = str(scratch)
            code, output = self._output(command, environ, folder.parent)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        if code:
            raise install_error(output, folder, _logged(command, output, folder))

    def _output(self, command: list[str], environ: Mapping[str, str], cwd: Path) -> tuple[int, str]:
        lines: list[str] = []
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=dict(environ),
            cwd=cwd,
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                self.show(line.strip())
            return process.wait(), "".join(lines)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _logged(command: Sequence[str], output: str, folder: Path) -> Path | None:
    """Write the whole output to a file next to the environments; None where the disk has no room for it."""
    log = folder.parent / f"{folder.name.partition('-')[0]}.log"
    try:
        log.write_text(f"$ {' '.join(command)}\n{output}", encoding="utf-8")
        log.chmod(0o600)
    except OSError:
        return None
    return log
