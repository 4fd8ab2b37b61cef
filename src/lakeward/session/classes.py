"""Spark's classes, loaded from an archive.

A third of a cold start is the JVM reading and verifying some 15,000 classes. The JVM can write them to
an archive when it ends and map that at the next start. The first session of a machine has it written
after itself; nobody waits for that. An archive that does not fit (another Java, another Spark) is
ignored by the JVM.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from lakeward.session.cache import cache_dir

__all__ = ["class_options"]

_QUIET = "-Xlog:disable"
# Writing takes some ten seconds; whoever has not finished after this has been killed.
_GIVEN_UP_AFTER = 300.0


def class_options(
    java: Path, class_path: str, version: str, environ: Mapping[str, str] = os.environ
) -> list[str]:
    """Options for the JVM with `class_path`: use the archive, write it at the end, or nothing.

    Set LAKEWARD_CLASS_ARCHIVE=0 to go without.
    """
    if environ.get("LAKEWARD_CLASS_ARCHIVE") == "0":
        return []
    base = java.resolve().parent.parent / "lib" / "server" / "classes.jsa"
    if not base.exists():  # a cut-down runtime has no archive of its own to build on
        return []
    key = hashlib.sha256(f"{java.resolve()} {version} {base.stat().st_mtime_ns}".encode()).hexdigest()[:16]
    archive = cache_dir() / "java" / f"classes-{key}.jsa"
    if archive.exists() or _finished(java, class_path, archive):
        return [_QUIET, "-Xshare:auto", f"-XX:SharedArchiveFile={archive}"]
    if _claimed(archive):
        return [_QUIET, f"-XX:ArchiveClassesAtExit={_aside(archive)}"]
    return []


def _aside(archive: Path) -> Path:
    return archive.with_suffix(".part")


def _claimed(archive: Path) -> bool:
    """Whether this process is the one that has the archive written."""
    claim = archive.with_suffix(".claim")
    try:
        claim.parent.mkdir(parents=True, exist_ok=True)
        if claim.exists() and time.time() - claim.stat().st_mtime > _GIVEN_UP_AFTER:
            claim.unlink(missing_ok=True)
            _aside(archive).unlink(missing_ok=True)
        claim.touch(exist_ok=False)
    except OSError:
        return False
    return True


def _finished(java: Path, class_path: str, archive: Path) -> bool:
    """Put an archive that was written whole in its place."""
    part = _aside(archive)
    try:
        if time.time() - part.stat().st_mtime < 2:
            return False
        # A cut-off archive kills the JVM that maps it, so a short-lived one tries it first.
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
            [*command, f"-XX:SharedArchiveFile={part}", "-version"],
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
