"""Requirements as jobs, pipelines and `%pip` declare them: lines of a requirements file.

Source: https://docs.databricks.com/aws/en/dev-tools/bundles/library-dependencies and
https://docs.databricks.com/aws/en/compute/serverless/dependencies
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path

from lakeward.environments.model import Declarations, DeclaredRequirement, Role
from lakeward.environments.sources.requirements_txt import read_line
from lakeward.errors import ConfigurationError
from lakeward.session import find_platform_sources, is_platform_path

_EDITABLE = re.compile(r"(?:-e|--editable)[= ]\s*(?P<place>.+)")
_PATH_LINE = re.compile(
    r"(?P<option>(?:(?:-[erc]|--(?:editable|requirement|constraint))[= ]\s*)?)(?P<path>.+)"
)
_ARCHIVE = re.compile(r"(?P<file>[^@]*\.(?:whl|zip|tar\.gz))(?P<extras>\[[^]]*\])?$")


def read_lines(lines: Iterable[str], origin: str, folder: Path) -> Declarations:
    """Return what `lines` ask for; relative paths are below `folder`, and `*` in a wheel's path is expanded.

    Workspace paths are found in the repository that `folder` is in, as `find_platform_file` describes.

    Raises ConfigurationError: REQUIREMENT_INVALID, REQUIREMENTS_NOT_FOUND, PACKAGE_FILE_NOT_FOUND.
    """
    texts = (_of_repository(line.strip(), folder) for line in lines)
    found = reduce(
        add, (_line(text, origin, folder) for text in texts if text and text[0] != "#"), Declarations()
    )
    for each in found.left_out:
        raise ConfigurationError(
            "REQUIREMENT_INVALID",
            f"{each.origin} asks for `{each.text}`: {each.why}.",
            next_step="A requirement reads `name`, `name==1.2`, `name>=1,<2`, or is a path or URL.",
        )
    return found


def _of_repository(text: str, folder: Path) -> str:
    """Replace the workspace path of a line (`-e /Repos/…`, `/Workspace/…/x.whl`) by the local path."""
    parts = _PATH_LINE.fullmatch(text)
    if parts is None:
        return text
    plain, bracket, extras = parts["path"].strip("\"'").partition("[")
    if not is_platform_path(plain) or (folder / plain).exists():
        return text
    found = find_platform_sources(plain, folder)
    return text if found is None else f"{parts['option']}{found}{bracket}{extras}"


def _line(text: str, origin: str, folder: Path) -> Declarations:
    editable = _EDITABLE.match(text)
    if editable is not None:
        place = editable["place"].strip().strip("\"'")
        return Declarations((DeclaredRequirement(f"-e {_existing(place, origin, folder)}", origin),))
    archive = None if "://" in text else _ARCHIVE.match(text)
    if archive is not None:
        extras = archive["extras"] or ""
        return Declarations(
            tuple(
                DeclaredRequirement(f"{file}{extras}", origin)
                for file in _files(archive["file"], origin, folder)
            )
        )
    if text.startswith((".", "/")):
        return Declarations((DeclaredRequirement(_existing(text, origin, folder), origin),))
    # No file of this name exists: it represents the folder that relative paths are below.
    try:
        found = read_line(text, origin, Role.RUN, Path("/nowhere"), folder / "requirements")
    except ConfigurationError as error:
        message = f"{origin} asks for `{text}`: {error.message}"
        raise ConfigurationError(error.condition, message, next_step=error.next_step) from None
    return replace(found, files=())


def _existing(place: str, origin: str, folder: Path) -> str:
    if "://" in place:
        return place
    path, bracket, extras = place.partition("[")
    found = (folder / path.strip()).resolve()
    if not found.exists():
        raise _missing(place, origin, found)
    return f"{found}{bracket}{extras}"


def _files(pattern: str, origin: str, folder: Path) -> Iterator[Path]:
    path = folder / pattern.strip()
    found = sorted(path.parent.glob(path.name)) if "*" in path.name else [path] if path.is_file() else []
    if not found:
        raise _missing(pattern, origin, path)
    return iter(each.resolve() for each in found)


def _missing(requested: str, origin: str, path: Path) -> ConfigurationError:
    return ConfigurationError(
        "PACKAGE_FILE_NOT_FOUND",
        f"{origin} requests `{requested}`, and {path} does not exist.",
        next_step="Correct the path, or build the package first.",
    )
