"""Pass pip's settings of package indexes to uv, which does not read them.

Source: https://pip.pypa.io/en/stable/topics/configuration/ and https://docs.astral.sh/uv/reference/environment/
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

_SAME = (
    ("index-url", "UV_DEFAULT_INDEX", ("UV_INDEX_URL",)),
    ("extra-index-url", "UV_INDEX", ("UV_EXTRA_INDEX_URL",)),
    ("find-links", "UV_FIND_LINKS", ()),
    ("cert", "SSL_CERT_FILE", ()),
    ("trusted-host", "UV_INSECURE_HOST", ()),
)


def uv_index_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of pip's variables and files as variables of uv; what uv has of its own stays."""
    settings = _settings(environ)
    found: dict[str, str] = {}
    for name, variable, others in _SAME:
        value = settings.get(name)
        if value and not any(environ.get(each) for each in (variable, *others)):
            # uv separates the folders of find-links by commas.
            found[variable] = ",".join(value.split()) if name == "find-links" else " ".join(value.split())
    if "UV_INDEX" in found:
        # As pip does: the best version of all indexes.
        found.setdefault("UV_INDEX_STRATEGY", environ.get("UV_INDEX_STRATEGY", "unsafe-best-match"))
    return found


def index_is_refused(environ: Mapping[str, str]) -> bool:
    """Return whether pip's settings allow find-links only; uv has an option for it."""
    return _settings(environ).get("no-index", "").lower() in ("1", "yes", "true", "on")


def _settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return pip's settings from its files and variables."""
    settings: dict[str, str] = {}
    for file in _files(environ):
        settings |= _settings_of(file)
    for name in ("no-index", *(name for name, _, _ in _SAME)):
        variable = environ.get(f"PIP_{name.upper().replace('-', '_')}")
        if variable:
            settings[name] = variable
    return settings


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield pip's configuration files, those with the lowest precedence first."""
    if environ.get("PIP_CONFIG_FILE") == os.devnull:
        return
    home = Path(environ.get("HOME") or Path.home())
    yield Path("/etc/pip.conf")
    yield Path("/Library/Application Support/pip/pip.conf")
    yield home / ".pip" / "pip.conf"
    yield home / "Library" / "Application Support" / "pip" / "pip.conf"
    yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"
    if environ.get("VIRTUAL_ENV"):
        yield Path(environ["VIRTUAL_ENV"]) / "pip.conf"
    if environ.get("PIP_CONFIG_FILE"):
        yield Path(environ["PIP_CONFIG_FILE"])


def _settings_of(file: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file, encoding="utf-8")
    except (OSError, configparser.Error, UnicodeDecodeError):
        # pip reports the error.
        return {}
    return {
        key.replace("_", "-"): value
        for section in ("global", "install")
        if parser.has_section(section)
        for key, value in parser[section].items()
    }
