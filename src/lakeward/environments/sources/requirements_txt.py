"""Requirements files, as pip reads them.

Source: https://pip.pypa.io/en/stable/reference/requirements-file-format/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path

from lakeward.environments.groups import group_role
from lakeward.environments.model import Declarations, DeclaredRequirement, Role
from lakeward.environments.sources.reading import read_requirements, read_text
from lakeward.errors import ConfigurationError

_PLACES = ("*requirements*.txt", "requirements/*.txt")
_FOLDERS = ("ci", "cicd", "dev", "reqs", "requirements", "test", "tests")
_COMMENT = re.compile(r"(^|\s)#.*$")
# A hash belongs to the one file that the author saw; a version that is relaxed has another.
_PER_LINE = re.compile(r"\s--?(hash|global-option|config-settings?|install-option)[= ].*$")
_OPTION = re.compile(
    r"(?P<name>-r|--requirement|-c|--constraint|-e|--editable|-i|--index-url|--extra-index-url|-f|--find-links|"
    r"--no-index|--no-binary|--only-binary|--pre|--prefer-binary|--trusted-host)(?:[= ]\s*|$)(?P<value>.*)"
)
_FOR_INSTALLER = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--no-index", "--no-binary")
_LOCAL = re.compile(r"\.{0,2}/|.*\.(whl|zip|tar\.gz)$")


def read(root: Path) -> Declarations:
    """Return the content of the requirements files in `root` and in its folders of requirements."""
    patterns = (*_PLACES, *(f"{folder}/*requirements*.txt" for folder in _FOLDERS))
    files = {file for pattern in patterns for file in root.glob(pattern) if file.is_file()}
    parts = [Declarations()]
    for file in sorted(files):
        words = file.stem.replace("requirements", " ").strip(" -_.")
        in_folder = file.parent != root
        role = Role.RUN if not words or words in ("base", "main", "prod") else group_role(words)
        if role is not None and not (in_folder and "constraint" in words):
            parts.append(read_file(file, role, root))
    return _each_once(reduce(add, parts))


def _each_once(found: Declarations) -> Declarations:
    # A file that others include with -r is read for itself too.
    seen = {(each.text, each.origin): each for each in reversed(found.wanted)}
    return replace(found, wanted=tuple(reversed(seen.values())), files=tuple(dict.fromkeys(found.files)))


def read_file(file: Path, role: Role, root: Path, opened: tuple[Path, ...] = ()) -> Declarations:
    """Return one requirements file and those that it names. Raises ConfigurationError for a missing one."""
    if file.resolve() in opened:
        return Declarations()
    if not file.is_file():
        raise ConfigurationError(
            "REQUIREMENTS_NOT_FOUND",
            f"{_shown(opened[-1], root)} names {file}, which is not there."
            if opened
            else f"{file} is not there.",
            next_step="Correct the line, or create the file.",
        )
    opened = (*opened, file.resolve())
    parts: list[Declarations] = [Declarations(files=(file,))]
    for number, line in _lines(read_text(file)):
        parts.append(read_line(line, f"{_shown(file, root)}:{number}", role, root, file, opened))
    return reduce(add, parts)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines with the number of their first physical one, without comments."""
    start = 0
    parts: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        start = start if parts else number
        parts.append(_COMMENT.sub("", line).rstrip())
        if line.rstrip().endswith("\\") and parts[-1].endswith("\\"):
            parts[-1] = parts[-1][:-1] + " "
            continue
        joined = "".join(parts).strip()
        parts = []
        if joined:
            yield start, joined
    if "".join(parts).strip():
        yield start, "".join(parts).strip()


def read_line(
    line: str, origin: str, role: Role, root: Path, file: Path, opened: tuple[Path, ...] = ()
) -> Declarations:
    """Return one logical line of `file`, in the repository `root`; `opened` are the files that led to it.

    Raises ConfigurationError for a file that it names and that is not there.
    """
    option = _OPTION.match(line) if line.startswith("-") else None
    if option is None:
        text = _PER_LINE.sub("", line).strip()
        if _LOCAL.match(text) and "@" not in text and "://" not in text:
            return Declarations((DeclaredRequirement(str((file.parent / text).resolve()), origin, role),))
        if re.match(r"(git|hg|svn|bzr)\+|https?://|file:", text):
            return Declarations((DeclaredRequirement(text, origin, role),))
        return read_requirements([text], origin, role, root)
    name, value = option["name"], option["value"].strip().strip("\"'")
    if name in ("-r", "--requirement", "-c", "--constraint") and "://" not in value:
        inner = read_file(file.parent / value, role, root, opened)
        if name in ("-c", "--constraint"):
            constraints = (*inner.constraints, *inner.wanted)
            return Declarations((), inner.left_out, constraints, inner.index_options, files=inner.files)
        return inner
    if name in ("-e", "--editable"):
        place = value if "://" in value else str((file.parent / value).resolve())
        # The repository itself is installed anyway.
        return (
            Declarations()
            if place.split("[")[0] == str(root.resolve())
            else Declarations((DeclaredRequirement(f"-e {place}", origin, role),))
        )
    if name in ("-f", "--find-links") and "://" not in value:
        value = str((file.parent / value).resolve())
    return (
        Declarations(index_options=(f"{name} {value}".strip(),)) if name in _FOR_INSTALLER else Declarations()
    )


def _shown(file: Path, root: Path) -> str:
    resolved, folder = file.resolve(), root.resolve()
    return str(resolved.relative_to(folder)) if resolved.is_relative_to(folder) else str(resolved)
