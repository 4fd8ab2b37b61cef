"""Choose the Maven repository for jars."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit
from xml.etree import ElementTree as ET

from lakeward.errors import SetupError

CENTRAL = "https://repo1.maven.org/maven2"


@dataclass(frozen=True)
class Jar:
    """A file of a Maven repository, identified by size and checksum."""

    group: str
    artifact: str
    version: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Return the file's name."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """Return its path in a Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.name}"

    def is_in(self, folder: Path) -> bool:
        """Return whether `folder` has the file, by its size: the checksum was verified at download."""
        try:
            return (folder / self.name).stat().st_size == self.size
        except OSError:
            return False


@dataclass(frozen=True)
class Repository:
    """A Maven repository: its address without password, the setting it comes from, and request headers."""

    url: str
    named_by: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, url: str, named_by: str) -> Repository:
        """Return the repository at `url`; user and password are sent with requests, never shown in messages.

        Raises SetupError for an address that is not http(s).
        """
        try:
            parts = urlsplit(url.strip())
            host = parts.hostname if parts.scheme in ("http", "https") else None
        except ValueError:
            host = None
        if host is None:
            raise SetupError(
                "MAVEN_MIRROR_INVALID",
                f"The Maven repository that {named_by} names is not an http or https address.",
                next_step="Set LAKEWARD_MAVEN_MIRROR to one, such as https://maven.example.com/maven2.",
            )
        plain = urlunsplit(
            (parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), parts.query, "")
        )
        headers: dict[str, str] = {}
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        return cls(plain, named_by, headers)


def repository(environ: Mapping[str, str] = os.environ) -> Repository:
    """Return LAKEWARD_MAVEN_MIRROR, else the mirror of `central` in ~/.m2/settings.xml, else Maven Central.

    Raises SetupError for an invalid address.
    """
    if environ.get("LAKEWARD_MAVEN_MIRROR"):
        return Repository.of(environ["LAKEWARD_MAVEN_MIRROR"], "LAKEWARD_MAVEN_MIRROR")
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    settings = home / ".m2" / "settings.xml"
    mirror = _mirror(settings)
    return Repository.of(mirror, str(settings)) if mirror else Repository.of(CENTRAL, "the default")


def _mirror(settings: Path) -> str | None:
    try:
        tree = ET.parse(settings)  # noqa: S314  # the user's own file
    except FileNotFoundError:
        return None
    except (OSError, ET.ParseError) as error:
        raise SetupError(
            "MAVEN_SETTINGS_INVALID",
            f"{settings} cannot be read: {error}.",
            next_step="Correct it, or set LAKEWARD_MAVEN_MIRROR to the repository to use.",
        ) from None
    for mirror in tree.iterfind(".//{*}mirrors/{*}mirror"):
        if is_mirror_of_central((mirror.findtext("{*}mirrorOf") or "").strip()):
            return (mirror.findtext("{*}url") or "").strip() or None
    return None


def is_mirror_of_central(pattern: str) -> bool:
    """Return whether a `mirrorOf` pattern covers the repository `central`, by Maven's rules.

    >>> [is_mirror_of_central(p) for p in ("*", "external:*,!central", "internal,central")]
    [True, False, True]
    """
    parts = [part.strip() for part in pattern.split(",")]
    if "!central" in parts:
        return False
    return any(part in ("*", "central", "external:*") for part in parts)
