"""`environment.yml` of conda: its pip section, and its packages by their names on PyPI.

Source: https://docs.conda.io/projects/conda/en/latest/user-guide/tasks/manage-environments.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lakeward.environments.model import Declarations, Role
from lakeward.environments.sources.reading import python_wanted, read_requirements, read_text
from lakeward.environments.sources.requirements_txt import read_line
from lakeward.errors import ConfigurationError

_FILES = ("environment.yml", "environment.yaml", "conda.yml", "conda.yaml")
# Programs and libraries of conda that are not Python packages.
_NOT_PYTHON = {"pip", "openjdk", "git", "make", "nodejs", "gcc", "gxx", "compilers", "r-base", "libgcc"}
_ON_PYPI = {"pytorch": "torch", "psycopg2": "psycopg2-binary", "msgpack-python": "msgpack"}


def read(root: Path) -> Declarations:
    """Return the declarations of the conda environment in `root`; raise ConfigurationError if broken."""
    file = next((root / name for name in _FILES if (root / name).is_file()), None)
    if file is None:
        return Declarations()
    found = Declarations(files=(file,))
    for entry in _dependencies(file):
        if isinstance(entry, Mapping):
            for line in entry.get("pip") or ():
                found += read_line(str(line), f"{file.name} pip", Role.RUN, root, file)
        else:
            found += _package(str(entry), file.name, root)
    return found


def _dependencies(file: Path) -> Iterator[Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        content = YAML(typ="safe", pure=True).load(read_text(file))
    except YAMLError as error:
        message = " ".join(str(error).split())
        raise ConfigurationError(
            "REQUIREMENTS_INVALID",
            f"{file} cannot be read: {message}.",
            next_step="Correct it, or remove the file.",
        ) from None
    entries = content.get("dependencies") if isinstance(content, Mapping) else None
    return iter(entries if isinstance(entries, list) else ())


def _package(text: str, origin: str, root: Path) -> Declarations:
    """Return one package as conda writes it: `numpy`, `numpy=1.26`, `conda-forge::numpy==1.26.4=py311_0`."""
    parts = re.fullmatch(r"(?:[\w/.-]+::)?(?P<name>[\w.-]+)\s*(?P<bound>.*)", text.strip())
    if parts is None:
        return Declarations()
    name, bound = parts["name"].lower(), parts["bound"].strip()
    # A single `=` is a prefix of the version; a second one begins the build.
    single = re.fullmatch(r"=(?P<version>[\w.]+\*?)(?:=.*)?", bound)
    exact = re.fullmatch(r"==(?P<version>[\w.]+)(?:=.*)?", bound)
    if single:
        bound = f"=={single['version'].rstrip('.*')}.*"
    elif exact:
        bound = f"=={exact['version']}"
    if name == "python":
        return Declarations(python=python_wanted(bound, f"{origin} python")) if bound else Declarations()
    if name in _NOT_PYTHON or name.startswith(("lib", "_", "r-")):
        return Declarations()
    return read_requirements([f"{_ON_PYPI.get(name, name)}{bound}"], origin, Role.RUN, root)
