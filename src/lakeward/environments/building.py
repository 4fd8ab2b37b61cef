"""Build the environment of a plan in a temporary folder and move it into place when complete."""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from packaging.utils import canonicalize_name

from lakeward.environments.build_plan import Attempt, Plan
from lakeward.environments.import_check import (
    COMPILED,
    FIRST_PYARROW_WITHOUT_NUMPY_1,
    PYARROW_FOR_NUMPY_1,
    require_imports,
)
from lakeward.environments.install_errors import is_about_versions
from lakeward.environments.installation import Installation
from lakeward.environments.installed import versions_in
from lakeward.environments.model import Say
from lakeward.environments.offline_copy import copy_installation
from lakeward.environments.provided_packages import OWN_PYSPARK, SETUPTOOLS, STAND_INS
from lakeward.environments.repository import source_folders
from lakeward.environments.runtime_packages import RuntimePackage
from lakeward.environments.uv_program import Installer, python_of
from lakeward.errors import LakewardError
from lakeward.session import not_writable


def build(plan: Plan, own: Installation, folder: Path, installer: Installer, say: Say) -> None:
    """Make the environment of `plan` in `folder`, which does not exist yet; on failure nothing of it stays.

    Raises SetupError (disk, network, installer) and ConfigurationError (versions that exclude each other).
    """
    try:
        with _full_disk_reported(folder):
            installer.create(plan.interpreter.path, folder)
            site = _site(folder)
            copy_installation(own, site, same_python=plan.interpreter.running, say=installer.show)
            _fill(plan, folder, installer, say)
            _fit_pyarrow(site, folder, installer, say)
            provide_setuptools(site, folder, installer, say)
            _provide_imported(plan, site, folder, installer, say)
            _remove_stand_ins(site, own, folder, installer, say)
            if plan.package:
                _install_repository(plan, folder, site, installer, say)
            _require_imports(folder, site)
            (folder / "lakeward.json").write_text(json.dumps({"root": str(plan.root)}), encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(folder.with_name(f"{folder.name}.tmp"), ignore_errors=True)


def _fill(plan: Plan, folder: Path, installer: Installer, say: Say) -> None:
    """Install by the first attempt that succeeds."""
    for number, attempt in enumerate(plan.attempts, start=1):
        try:
            _install(attempt, (*plan.overrides, *attempt.overrides), folder, installer)
        except LakewardError as error:
            if number == len(plan.attempts) or not is_about_versions(error):
                raise
            say(f"{error.message}")
            say(f"again, without {plan.attempts[number].without}")
        else:
            return


def _install(attempt: Attempt, overrides: tuple[str, ...], folder: Path, installer: Installer) -> None:
    files: list[Path] = []
    for name, lines in (
        ("requirements", attempt.requirements),
        ("constraints", attempt.constraints),
        ("overrides", overrides),
    ):
        file = folder / f"{name}.txt"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        # An index address may hold a password.
        file.chmod(0o600)
        files.append(file)
    installer.install(folder, files[0], "-c", str(files[1]), "--overrides", str(files[2]))


def _fit_pyarrow(site: Path, folder: Path, installer: Installer, say: Say) -> None:
    """Replace a pyarrow that fails with the NumPy of the repository; neither declares the conflict."""
    versions = versions_in(site)
    numpy, pyarrow = versions.get("numpy", "2"), versions.get("pyarrow", "0")
    if numpy.startswith("1.") and int(pyarrow.partition(".")[0]) >= FIRST_PYARROW_WITHOUT_NUMPY_1:
        say(f"pyarrow below {FIRST_PYARROW_WITHOUT_NUMPY_1}, since numpy {numpy} is required")
        file = folder / "pyarrow.txt"
        file.write_text(f"{PYARROW_FOR_NUMPY_1}\nnumpy=={numpy}\n", encoding="utf-8")
        installer.install(folder, file)


def provide_setuptools(site: Path, folder: Path, installer: Installer, say: Say) -> None:
    """Install setuptools, which every runtime has: older packages import its `pkg_resources` undeclared.

    One that the repository or a package requires stays as it is. An index without setuptools is no error:
    most repositories do not need it.
    """
    if "setuptools" in versions_in(site):
        return
    file = folder / "setuptools.txt"
    file.write_text(f"{SETUPTOOLS}\n", encoding="utf-8")
    try:
        installer.install(folder, file)
    except LakewardError as error:
        say(f"without setuptools, which the runtimes have: {error.message}")


def _provide_imported(plan: Plan, site: Path, folder: Path, installer: Installer, say: Say) -> None:
    """Install the packages of the runtime that the code imports, where nothing required them.

    The runtime's version is preferred to another one. What is installed stays in its version, and a package
    that cannot be installed is left out: most code of a repository runs without it.
    """
    installed = versions_in(site)
    missing = [
        each
        for each in plan.imported
        if installed.keys().isdisjoint(map(canonicalize_name, (each.package.name, each.package.package)))
    ]
    options = [line for line in plan.attempts[0].requirements if line.startswith("--")]
    constraints = folder / "installed.txt"
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in installed.items()), "utf-8")
    for number, each in enumerate(missing):
        found = _add_package(each.package, options, constraints, folder, installer)
        if isinstance(found, str):
            say(f"added {found}: {each.package}, and {each.file} imports it")
            continue
        # Without an index the others cannot be installed either, and each attempt would wait for it.
        stopped = not is_about_versions(found)
        names = [each.package.package for each in (missing[number:] if stopped else [each])]
        say(f"without {', '.join(names)}, which {each.file} imports: {found}")
        if stopped:
            return


def _add_package(
    package: RuntimePackage, options: list[str], constraints: Path, folder: Path, installer: Installer
) -> str | LakewardError:
    """Install a package in the runtime's version, or in another one; return the requirement or the error."""
    file = folder / "imported.txt"
    error: LakewardError | None = None
    for requirement in (f"{package.package}=={package.version}", package.package):
        file.write_text("".join(f"{line}\n" for line in (*options, requirement)), encoding="utf-8")
        # The address of an index may hold a password.
        file.chmod(0o600)
        try:
            installer.install(folder, file, "-c", str(constraints))
        except LakewardError as failure:
            if failure.condition in ("CACHE_NO_SPACE", "CACHE_NOT_WRITABLE"):
                raise
            error = failure
            if not is_about_versions(failure):
                break
        else:
            return requirement
    assert error is not None
    return error


def _require_imports(folder: Path, site: Path) -> None:
    names = [name for name in COMPILED if (site / name).is_dir()]
    require_imports(
        [str(python_of(folder)), "-I"],
        names,
        about="The packages",
        versions=[
            f"{name}=={version}" for name, version in versions_in(site).items() if name in (*names, "pyspark")
        ],
        next_step="Change the pin of one of them, or leave one out: lakeward test --without PACKAGE.",
    )


def _remove_stand_ins(site: Path, own: Installation, folder: Path, installer: Installer, say: Say) -> None:
    """Remove replaced packages that other packages brought, and restore Spark's files afterwards."""
    installed = versions_in(site)
    brought = [name for name in STAND_INS if name in installed and name not in (*OWN_PYSPARK, "lakeward")]
    if not brought:
        return
    for name in brought:
        say(f"left out {name}, which other packages bring: {STAND_INS[name].why}")
    pins = [str(each) for each in own.requires if canonicalize_name(each.name) in OWN_PYSPARK]
    installer.replace(folder, brought, pins)


def _install_repository(plan: Plan, folder: Path, site: Path, installer: Installer, say: Say) -> None:
    """Install the repository in place; where its build fails, its folders are put on the path instead."""
    try:
        before = _egg_infos(plan.root)
        installer.install_in_place(folder, plan.root)
        # setuptools leaves one behind; Python would take it for a second installation.
        for left in _egg_infos(plan.root) - before:
            shutil.rmtree(left, ignore_errors=True)
    except LakewardError as error:
        if error.condition in ("CACHE_NO_SPACE", "CACHE_NOT_WRITABLE"):
            raise
        folders = source_folders(plan.root)
        (site / "_lakeward_repository.pth").write_text("".join(f"{each}\n" for each in folders), "utf-8")
        say(
            f"{plan.root.name} itself could not be installed, so its folders are on the path: {error.message}"
        )


def _egg_infos(root: Path) -> set[Path]:
    return {*root.glob("*.egg-info"), *root.glob("*/*.egg-info")}


def _site(folder: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run(
        [str(python_of(folder)), "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return Path(done.stdout.strip())


@contextlib.contextmanager
def _full_disk_reported(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM):
            raise not_writable(folder.parent, error) from None
        raise
