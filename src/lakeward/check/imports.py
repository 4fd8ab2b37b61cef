"""Imported packages that neither the repository, the declared Databricks runtime nor lakeward brings."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lakeward.check.files import SourceFile
from lakeward.check.model import Finding, Use
from lakeward.check.verdicts.modules import OF_DATABRICKS, is_installed
from lakeward.databricks_shims import REPLACED
from lakeward.environments import NAMESPACES, RuntimePackage, distribution_of, find_runtime_package

# They open files without Python's `open`.
_NATIVE = frozenset(
    (
        *("duckdb", "fiona", "geopandas", "h5py", "netCDF4", "osgeo", "polars", "pyogrio", "rasterio"),
        *("rioxarray", "shapefile"),
    )
)
_PROGRAMS = frozenset(("sh", "subprocess"))
_NATIVE_CURE = (
    "It opens files in native code, where paths of the platform are not mapped: set `bind-mounts = true` in "
    "[tool.lakeward] of pyproject.toml (Linux), or give it an open file or a local copy."
)
_PROGRAMS_CURE = (
    "Paths of the platform in its arguments are mapped; those that a program computes or reads are not: set "
    "`bind-mounts = true` in [tool.lakeward] of pyproject.toml (Linux), or copy the files to a local folder."
)
_MAPPED = re.compile(r"/(Volumes|dbfs|Workspace|mnt|FileStore)/")
DECLARING_FILES = (
    *("setup.py", "setup.cfg", "Pipfile", "Pipfile.lock", "environment.yml", "environment.yaml"),
    *("poetry.lock", "uv.lock", "pdm.lock"),
)
"""Files that name packages, in addition to those that are read for requirements."""

_ADDRESS = re.compile(r"\bgit\+\w+:|https?://\S+\.(?:whl|zip|tar\.gz)\b")


def missing_packages(
    uses: Iterable[Use],
    files: Collection[SourceFile],
    declarations: Iterable[str],
    runtime: str | None,
) -> Iterator[Finding]:
    """Yield a finding for each import of a package that has to be installed first.

    A package is there if it is the repository's own, in the standard library, a requirement of lakeward's, or
    named in `declarations`: the texts in which the repository names what it needs. A notebook that installs
    something from an address may have any module.

    Args:
        uses: What the code uses.
        files: The files of the repository.
        declarations: The texts that name requirements.
        runtime: The runtime that the code is meant for; the advice names its version of the package.
    """
    uses = list(uses)
    own = {part for file in files for part in _module_names(file.name)}
    unnamed = {use.place.file for use in uses if use.kind == "install" and _ADDRESS.search(use.name)}
    text = "\n".join(declarations).lower().replace("_", "-")
    there: dict[str, bool] = {}
    for use in uses:
        if use.guarded:
            continue
        if use.kind == "module" and use.name.startswith("databricks."):
            yield from _missing_databricks_packages(use, own, text)
        if use.kind != "import" or _is_replaced(use):
            continue
        name = use.name.partition(".")[0]
        package = distribution_of(use.name)
        if package not in there:
            is_own = name in own or name in sys.stdlib_module_names
            there[package] = is_own or _is_declared(name, package, text) or _is_provided(name, package)
        if there[package]:
            continue
        brought = find_runtime_package(use.name, runtime)
        if brought is not None or use.place.file not in unnamed:
            yield _missing_package(package, use, brought, is_replaced=name in REPLACED)


def _missing_package(package: str, use: Use, brought: RuntimePackage | None, *, is_replaced: bool) -> Finding:
    """Return the finding for a package; `brought` is that of the runtime, None if it has none."""
    if brought is not None and not is_replaced:
        cure = f"{brought}: lakeward installs it into the repository's environment."
        return Finding("runs_with_lakeward", f"package {package}", use.place, cure)
    source = f"{brought}, and lakeward does not" if brought else "It is not a declared requirement"
    cure = f"{source}: declare it, or call lakeward with `--with {package}`."
    return Finding("needs_seed", f"package {package}", use.place, cure)


def _is_replaced(use: Use) -> bool:
    """Return whether runs serve the module, or the module of the imported name; tests do not."""
    module = use.name.rpartition(".")[0]
    # A name below a package can be a module of it that is not served.
    is_served = use.name in (*REPLACED, "IPython.get_ipython") or (
        module in REPLACED and module not in ("IPython", "IPython.core")
    )
    return is_served and not Path(use.place.file).name.startswith(("test_", "conftest."))


def package_cure(module: str, runtime: str | None) -> str:
    """Return how a module that is not there is installed; only packages of runtimes are named.

    >>> package_cure("yaml", "16.4")
    'Runtime 16.4 brings pyyaml 6.0.1. Declare it, or call lakeward with `--with pyyaml`.'
    >>> package_cure("shop.load", "16.4")
    'If a package has the module `shop`: declare it, or call lakeward with `--with PACKAGE`.'
    >>> package_cure("databricks.agents.x", "16.4")[:51]
    'databricks-agents brings `databricks.agents`. Decla'
    """
    name = module.partition(".")[0]
    if own := _package_of_databricks(module):
        found = ".".join(module.split(".")[: 3 if module.startswith("databricks.labs.") else 2])
        return f"{own} brings `{found}`. Declare it, or call lakeward with `--with {own}`."
    brought = find_runtime_package(module, runtime)
    if brought is not None:
        return f"{brought}. Declare it, or call lakeward with `--with {brought.package}`."
    return f"If a package has the module `{name}`: declare it, or call lakeward with `--with PACKAGE`."


def _package_of_databricks(module: str) -> str | None:
    """Return the distribution that brings a module below `databricks`; None for others."""
    parts = module.split(".")
    if parts[0] != "databricks" or len(parts) < 2:
        return None
    if parts[1] == "labs" and len(parts) > 2:
        return "-".join(parts[:3]).replace("_", "-")
    return OF_DATABRICKS.get(parts[1])


def _missing_databricks_packages(use: Use, own: Collection[str], text: str) -> Iterator[Finding]:
    """Yield a finding for a package below `databricks` that is not the repository's, declared or there."""
    parts = use.name.split(".")
    second = parts[1] if len(parts) > 1 else ""
    package = _package_of_databricks(use.name)
    if package is None or second in own or parts[-1] in own or package.replace("_", "-") in text:
        return
    if not is_installed(".".join(parts[: 3 if second == "labs" else 2])):
        cure = f"It is not a declared requirement: declare it, or call lakeward with `--with {package}`."
        yield Finding("needs_seed", f"package {package}", use.place, cure)


def unmapped_libraries(uses: Collection[Use]) -> Iterator[Finding]:
    """Yield a finding for each library that opens files by itself in a file with paths of the platform."""
    files = {use.place.file for use in uses if use.kind == "path" and _MAPPED.match(use.name)}
    for use in uses:
        if use.kind != "import" or use.place.file not in files:
            continue
        name = use.name.partition(".")[0]
        if name in _NATIVE:
            yield Finding("differs", f"module {name}", use.place, _NATIVE_CURE)
        elif name in _PROGRAMS:
            yield Finding("differs", f"module {name}", use.place, _PROGRAMS_CURE)


def _module_names(name: str) -> list[str]:
    """Return the folders and the module of a file: code imports from any folder on its path.

    >>> _module_names("src/shop/load.py")
    ['src', 'shop', 'load']
    """
    *folders, file = name.split("/")
    return [*folders, file.rpartition(".")[0]]


def _is_declared(name: str, package: str, text: str) -> bool:
    package = package.lower()
    plain = name.lower().replace("_", "-")
    end = r"[\w-]*" if name in NAMESPACES else r"(-binary|-python|-py|-client|-sdk|-skinny|-core)?(?![\w-])"
    return any(
        re.search(rf"(?<![\w.-])(py|python-)?{re.escape(each)}{end}", text) for each in {package, plain}
    )


@cache
def _is_provided(name: str, package: str) -> bool:
    """Return whether a requirement of lakeward has the module, or pytest, which `lakeward test` installs."""
    if name in NAMESPACES:  # one package of `google` does not bring the others
        return canonicalize_name(package) in _closure() and is_installed(name)
    return is_installed(name) and any(
        canonicalize_name(owner) in _closure() for owner in _owners().get(name, ())
    )


@cache
def _owners() -> Mapping[str, list[str]]:
    # Reads the metadata of every installed package: 0.3 s, and most repositories do without.
    if sys.version_info >= (3, 11):
        return metadata.packages_distributions()
    # Python 3.10 reads `top_level.txt` alone, which newer wheels do not have.
    owners: dict[str, list[str]] = {}
    for package in metadata.distributions():
        names = {path.parts[0].removesuffix(".py") for path in package.files or () if path.suffix == ".py"}
        for name in names:
            owners.setdefault(name, []).append(package.metadata["Name"])
    return owners


@cache
def _closure() -> frozenset[str]:
    found: set[str] = set()
    open_names = ["lakeward", "pytest"]
    while open_names:
        name = canonicalize_name(open_names.pop())
        if name in found:
            continue
        found.add(name)
        with suppress(metadata.PackageNotFoundError):
            parsed = map(Requirement, metadata.requires(name) or ())
            open_names += [
                each.name for each in parsed if each.marker is None or each.marker.evaluate({"extra": ""})
            ]
    return frozenset(found)
