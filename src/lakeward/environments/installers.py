"""uv and pip: making an environment and filling it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lakeward.environments.failures import explained
from lakeward.environments.indexes import for_uv, index_is_refused
from lakeward.environments.interpreters import Interpreter
from lakeward.errors import SetupError

__all__ = ["Installer", "python_of", "usual_environ", "uv_on"]

# They lead another Python astray.
_ASTRAY = {
    *("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"),
    *("__PYVENV_LAUNCHER__", "VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON"),
}


def uv_on(environ: Mapping[str, str] = os.environ) -> str | None:
    """The program uv: the one that runs this (`uvx`), else the one on PATH.

    None where there is none, or with LAKEWARD_INSTALLER=pip.
    """
    if environ.get("LAKEWARD_INSTALLER") == "pip":
        return None
    return environ.get("UV") or shutil.which("uv", path=environ.get("PATH", os.defpath))


def usual_environ(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables for an environment's programs: the user's, but for those that lead it astray."""
    return {key: value for key, value in environ.items() if key not in _ASTRAY}


def python_of(folder: Path) -> Path:
    """The Python of the environment in `folder`."""
    return folder / "bin" / "python"


@dataclass(frozen=True)
class Installer:
    """What fills environments: uv where its program is given, else the venv and pip of Python itself.

    `show` is called with each line that it prints. Errors are those of `explained`.
    """

    uv: str | None
    show: Callable[[str], None]

    def create(self, interpreter: Interpreter, folder: Path) -> None:
        """Make an empty environment."""
        if self.uv:
            self._run([self.uv, "venv", "--no-project", "-p", str(interpreter.path), str(folder)], folder)
            return
        try:
            self._run([str(interpreter.path), "-m", "venv", "--without-pip", str(folder)], folder)
        except SetupError as error:
            raise _without_venv(interpreter, error) from None

    def complete(self, interpreter: Interpreter, folder: Path, site: Path) -> None:
        """Put pip into an environment that has none, where it is pip that installs."""
        if self.uv or (site / "pip").is_dir():
            return
        try:
            self._run([str(python_of(folder)), "-m", "ensurepip", "--default-pip"], folder)
        except SetupError as error:
            raise _without_venv(interpreter, error) from None

    def install(self, folder: Path, requirements: Path, constraints: Path, overrides: Path) -> None:
        """Install the lines of `requirements` into the environment; what satisfies them already stays."""
        files = ["-r", str(requirements), "-c", str(constraints)]
        if self.uv:
            files += ["--overrides", str(overrides)]
        self._run([*self._pip(folder, "install"), *files], folder)

    def install_in_place(self, folder: Path, project: Path) -> None:
        """Install the package in `project` so that its files are used where they are."""
        self._run([*self._pip(folder, "install"), "--no-deps", "-e", str(project)], folder)

    def replace(self, folder: Path, names: Sequence[str], by: Sequence[str]) -> None:
        """Remove the packages `names`, then put the requirements `by` in anew."""
        yes = [] if self.uv else ["-y"]
        self._run([*self._pip(folder, "uninstall"), *yes, *names], folder)
        again = ["--reinstall"] if self.uv else ["--force-reinstall"]
        self._run([*self._pip(folder, "install"), "--no-deps", *again, *by], folder)

    def _pip(self, folder: Path, command: str) -> list[str]:
        python = str(python_of(folder))
        if self.uv:
            offline = ["--no-index"] if command == "install" and index_is_refused() else []
            return [self.uv, "pip", command, *offline, "--python", python]
        return [python, "-m", "pip", "--disable-pip-version-check", "--no-input", command]

    def _run(self, command: list[str], folder: Path) -> None:
        environ = usual_environ()
        if self.uv:
            environ |= {**for_uv(environ), "VIRTUAL_ENV": str(folder), "NO_COLOR": "1"}
        # Without a second attempt pip takes a broken network for an index that lacks the package.
        if environ.get("PIP_RETRIES", "0") == "0":
            environ["PIP_RETRIES"] = "2"
        # One disk decides whether there is room: /tmp is often a small one.
        scratch = folder.with_name(f"{folder.name}.tmp")
        scratch.mkdir(exist_ok=True)
        environ["TMPDIR"] = str(scratch)
        told: list[str] = []
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environ,
            cwd=folder.parent,
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                told.append(line)
                self.show(line.strip())
            code = process.wait()
        finally:
            process.kill()
            process.wait()
        if code:
            raise explained("".join(told), folder, _logged(command, told, folder))


def _logged(command: Sequence[str], told: Sequence[str], folder: Path) -> Path | None:
    """A file beside the environments with the whole output; None where the disk has no room for it."""
    log = folder.parent / f"{folder.name.partition('-')[0]}.log"
    try:
        log.write_text(f"$ {' '.join(command)}\n{''.join(told)}", encoding="utf-8")
        log.chmod(0o600)
    except OSError:
        return None
    return log


def _without_venv(interpreter: Interpreter, error: SetupError) -> SetupError:
    if error.condition != "INSTALL_FAILED":
        return error
    version = ".".join(interpreter.version.split(".")[:2])
    return SetupError(
        "VENV_NOT_THERE",
        f"Python {version} ({interpreter.path}) comes without venv or pip.",
        next_step=f"On Debian and Ubuntu: apt install python{version}-venv. Or install uv.",
    )
