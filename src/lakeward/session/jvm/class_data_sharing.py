"""Spark's classes, loaded from an archive.

A third of a cold start is the JVM reading and verifying some 15,000 classes. The JVM can write them to
an archive when it ends and map that at the next start. The first session of a machine has it written
after itself; no process waits for that. An archive that does not fit (another Java, another Spark) is
ignored by the JVM.

It builds on the archive of the runtime's own classes. A runtime cut down with jlink comes without: for
one, that is made before the first start, which takes a second.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path

from lakeward.atomic_files import atomic_replace
from lakeward.errors import SetupError
from lakeward.session.cache import cache_dir, ensure_dir

_QUIET = "-Xlog:disable"
# Writing takes about ten seconds; a writer that has not finished after this time was killed.
_GIVEN_UP_AFTER = 300.0


def class_options(java: Path, class_path: str, version: str) -> list[str]:
    """Return JVM options for `class_path`: use the archive, write it at exit, or none.

    LAKEWARD_CLASS_ARCHIVE=0 disables the archive.
    """
    if os.environ.get("LAKEWARD_CLASS_ARCHIVE") == "0":
        return []
    program, cache = java.resolve(), cache_dir() / "java"
    own = program.parent.parent / "lib" / "server" / "classes.jsa"
    since = (own if own.exists() else program).stat().st_mtime_ns
    key = hashlib.sha256(f"{program} {version} {since}".encode()).hexdigest()[:16]
    base = None if own.exists() else cache / f"runtime-classes-{key}.jsa"
    if base is not None and not _ensure_base(java, base):
        return []
    archive = cache / f"classes-{key}.jsa"
    if archive.exists() or _publish(java, class_path, base, archive):
        return [_QUIET, "-Xshare:auto", _shared(base, archive)]
    built_on = [] if base is None else [_shared(base)]
    if _claim(archive):
        return [_QUIET, *built_on, f"-XX:ArchiveClassesAtExit={_part(archive)}"]
    return [_QUIET, "-Xshare:auto", *built_on] if built_on else []


def _shared(*archives: Path | None) -> str:
    """Return the option that uses archives, each built on the one before."""
    return f"-XX:SharedArchiveFile={os.pathsep.join(str(each) for each in archives if each)}"


def _ensure_base(java: Path, base: Path) -> bool:
    """Ensure the archive `base` of the runtime's own classes; return whether it is usable.

    An empty file marks a failure, which is not repeated.
    """
    if not base.exists():
        try:
            with atomic_replace(ensure_dir(base.parent) / base.name) as aside:
                dump = [str(java), _QUIET, "-Xshare:dump", _shared(aside)]
                if subprocess.run(dump, capture_output=True, timeout=60, check=False).returncode != 0:
                    aside.unlink(missing_ok=True)
                aside.touch()
        except (OSError, SetupError, subprocess.TimeoutExpired):
            return False
    return base.stat().st_size > 0


def _part(archive: Path) -> Path:
    return archive.with_suffix(".part")


def _claim(archive: Path) -> bool:
    """Let this process write the archive; return False if another one does."""
    claim = archive.with_suffix(".claim")
    try:
        claim.parent.mkdir(parents=True, exist_ok=True)
        if claim.exists() and time.time() - claim.stat().st_mtime > _GIVEN_UP_AFTER:
            claim.unlink(missing_ok=True)
            _part(archive).unlink(missing_ok=True)
        claim.touch(exist_ok=False)
    except OSError:
        return False
    return True


def _publish(java: Path, class_path: str, base: Path | None, archive: Path) -> bool:
    """Move a completely written archive to its final name; return False if none is complete."""
    part = _part(archive)
    try:
        if time.time() - part.stat().st_mtime < 2:
            return False
        # A truncated archive crashes the JVM that maps it, so a short-lived JVM tests it first.
        command = [
            str(java),
            _QUIET,
            "-cp",
            class_path,
            "-Xshare:on",
            "-XX:+VerifySharedSpaces",
            "-XX:ErrorFile=/dev/null",
        ]
        checked = subprocess.run(
            [*command, _shared(base, part), "-version"],
            capture_output=True,
            timeout=30,
            check=False,
        )
        if checked.returncode != 0:
            return False
        part.replace(archive)
        archive.with_suffix(".claim").unlink(missing_ok=True)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return True
