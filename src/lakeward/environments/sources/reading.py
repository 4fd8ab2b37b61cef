"""Text and TOML of a file, and requirements from their text; each error names the file."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from lakeward.environments.model import Declarations, DeclaredRequirement, LeftOut, PythonWanted, Role
from lakeward.errors import ConfigurationError
from lakeward.toml_parser import tomllib

# `pip freeze > requirements.txt` in PowerShell writes UTF-16.
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decoded_text(content: bytes, *, errors: str = "strict") -> str:
    """Return the text of a file in any Unicode encoding. Raises UnicodeDecodeError, as `errors` decides."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    return content.decode(encoding, errors)


def read_text(file: Path, *, condition: str = "REQUIREMENTS_INVALID") -> str:
    """Return the text of `file`, whatever Unicode encoding it has. Raises ConfigurationError."""
    try:
        return decoded_text(file.read_bytes())
    except UnicodeDecodeError:
        raise ConfigurationError(condition, f"{file} is not UTF-8.", next_step="Save it as UTF-8.") from None
    except OSError as error:
        raise ConfigurationError(
            condition,
            f"{file} cannot be read: {error.strerror}.",
            next_step="Give yourself the permission to read it, or remove it.",
        ) from None


def read_toml(file: Path, *, condition: str = "PYPROJECT_INVALID") -> dict[str, Any]:
    """Return the content of a TOML file, empty if it is missing. Raises ConfigurationError."""
    if not file.is_file():
        return {}
    text = read_text(file, condition=condition)
    try:
        content: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        cure = "Finish the merge." if "<<<<<<<" in text else "Correct it, or remove the file."
        raise ConfigurationError(
            condition, f"{file}: this is not valid TOML: {error}.", next_step=cure
        ) from None
    return content


def indexes(stated: object) -> tuple[str, ...]:
    """Return the package indexes that a tool lists in addition to PyPI, as options of the installers."""
    urls = [str(each["url"]) for each in stated if "url" in each] if isinstance(stated, list) else []
    return tuple(f"--extra-index-url {url}" for url in urls if "//pypi.org/" not in url)


def read_requirements(texts: Iterable[object], origin: str, role: Role, root: Path) -> Declarations:
    """Return requirements of PEP 508; other lines are left out, with the reason."""
    found: list[DeclaredRequirement] = []
    left_out: list[LeftOut] = []
    for each in texts:
        text = str(each).strip()
        if text.startswith("-e "):
            found.append(DeclaredRequirement(_editable(text, root), origin, role))
            continue
        try:
            found.append(DeclaredRequirement(text, origin, role, Requirement(text)))
        except InvalidRequirement as error:
            reason = str(error).splitlines()[0]
            left_out.append(LeftOut(text, origin, f"this is not a requirement: {reason}"))
    return Declarations(tuple(found), tuple(left_out))


def _editable(text: str, root: Path) -> str:
    place = text[3:].strip()
    local = place.removeprefix("file://").replace("/${PROJECT_ROOT}", str(root))
    return f"-e {place}" if "://" in local else f"-e {(root / local).resolve()}"


def python_wanted(text: object, origin: str) -> tuple[PythonWanted, ...]:
    """`requires-python` in the standard's form. Raises ConfigurationError for what cannot be one."""
    try:
        return (PythonWanted(SpecifierSet(str(text)), origin),)
    except InvalidSpecifier:
        raise ConfigurationError(
            "PYTHON_INVALID",
            f"{origin} asks for Python `{text}`, which is not a version.",
            next_step=">=3.10",
        ) from None
