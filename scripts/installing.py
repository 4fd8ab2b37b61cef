"""The steps that fill an environment, each a line on stderr."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import environment as env
from failures import SetupFailed, explained, place_failed

__all__ = ["SetupFailed", "install"]

_PREPARE = """\
import sys
from lakeward.errors import LakewardError
from lakeward.session.jvm.jars import pinned_jars
from lakeward.session.jvm.java_runtime import find_java
try:
    find_java()
    pinned_jars()
except LakewardError as error:
    sys.exit(str(error))
"""


def install(root: Path, venv: Path, level: str) -> None:
    """Make `venv` what the lock file of `level` says. Raises SetupFailed with one sentence."""
    started = time.monotonic()
    say(f"an environment for Python {sys.version_info[0]}.{sys.version_info[1]} in {venv.name}")
    ours = _environment(venv)
    python = venv / "bin" / "python"
    try:
        _packages(root, venv, level)
        say("lakeward itself, in place")
        _run([*_pip(python), "install", *_BUILT, "--no-deps", "--no-index", "-e", str(root)], venv)
        say("Java and the jars of Delta Lake")
        prepared = subprocess.run(
            [str(python), "-c", _PREPARE],
            stderr=subprocess.PIPE,
            text=True,
            env=env.usual_environ(),
            check=False,
        )
        if prepared.returncode:
            raise SetupFailed((prepared.stderr.strip() or "the environment does not start").splitlines()[-1])
        env.remove(venv / "tmp")
        env.write_stamp(venv, "made", ours=ours, locks={level: env.lock_digest(level)})
    except OSError as error:
        raise place_failed(venv, error) from None
    say(f"done in {time.monotonic() - started:.0f} s")


def _environment(venv: Path) -> bool:
    """Create an environment with pip; return whether this program may delete it."""
    stamp = env.read_stamp(venv)
    python = venv / "bin" / "python"
    try:
        if stamp is None and (venv / "pyvenv.cfg").exists():
            _adopt(python)
            env.write_stamp(venv, "making", ours=False)
            return False
        usable = stamp is not None and env.fits(stamp, venv) and python.exists()
        if stamp is not None and usable and (stamp["state"] == "made" or not stamp["ours"]):
            env.write_stamp(venv, "making", ours=stamp["ours"])
            return bool(stamp["ours"])
        env.remove(venv)
        venv.mkdir()
        env.write_stamp(venv, "making", ours=True)
    except OSError as error:
        raise place_failed(venv, error) from None
    base = getattr(sys, "_base_executable", None) or sys.executable
    # pip is put in by a step of its own: as a part of the other it would keep its reasons to itself.
    _run([base, "-m", "venv", "--without-pip", str(venv)], venv)
    _run([str(python), "-m", "ensurepip", "--default-pip"], venv)
    return True


def _adopt(python: Path) -> None:
    probe = "import sys; sys.exit(sys.version_info[:2] < (3, 10))"
    try:
        done = subprocess.run([str(python), "-c", probe], capture_output=True, check=False)
    except OSError:
        done = None
    if done is None or done.returncode:
        raise SetupFailed(
            f"{python.parent.parent} was made by something else and its Python does not run or is older than "
            "3.10. Delete that folder and call again."
        )
    if subprocess.run([*_pip(python), "--version"], capture_output=True, check=False).returncode:
        _run([str(python), "-m", "ensurepip", "--default-pip"], python.parent.parent)


def _packages(root: Path, venv: Path, level: str) -> None:
    folder = root / "requirements"
    python = venv / "bin" / "python"
    count = sum(line[:1].isalnum() for line in (folder / f"{level}.lock").read_text("utf-8").splitlines())
    say(f"{count} packages of requirements/{level}.lock (the first time some 700 MB come over the network)")
    locked = ["install", "--require-hashes", "--no-deps"]
    _run([*_pip(python), *locked, "-r", str(folder / "build.lock")], venv)
    _run([*_pip(python), *locked, *_BUILT, "-r", str(folder / f"{level}.lock")], venv)


# Spark comes as source: it is built with the tools of build.lock, which are here and verified.
_BUILT = ["--no-build-isolation"]


def _pip(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input"]


def _run(command: list[str], venv: Path) -> None:
    """Run a step that fills `venv`; its output shows as one changing line and tells why it failed."""
    environ = env.usual_environ()
    # Without a second attempt pip takes a broken network for an index that lacks the package.
    if environ.get("PIP_RETRIES", "0") == "0":
        environ["PIP_RETRIES"] = "2"
    # One disk decides whether there is room: /tmp is often a small one.
    scratch = venv / "tmp"
    scratch.mkdir(exist_ok=True)
    environ["TMPDIR"] = str(scratch)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environ
    )
    told: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            told.append(line)
            _show(line)
        code = process.wait()
    finally:
        process.kill()
        _show("")
    if code:
        raise explained("".join(told), venv)


def say(text: str) -> None:
    """Print one line of progress."""
    sys.stderr.write(f"lakeward set-up: {text}\n")
    sys.stderr.flush()


def _show(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line.strip()[:100]}")
        sys.stderr.flush()
