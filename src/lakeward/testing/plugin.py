"""The pytest plugin: lazy fixtures, and the hooks that let users' own fixtures work as they are.

Nothing imports pyspark or starts a JVM before a test asks for it. LAKEWARD_DISABLE=1 leaves all of it off.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from lakeward.file_lock import FileLock
from lakeward.patching import AfterImport
from lakeward.testing.failure_hints import add_hints
from lakeward.testing.workers import acquire_jvm_slot, current_worker, machine_memory, worker_budget

if TYPE_CHECKING:
    import pluggy
    from pyspark.sql import SparkSession

    from lakeward.dbutils import DBUtils
    from lakeward.session import Settings
    from lakeward.testing.lakehouse import Lakehouse

home_key = pytest.StashKey[Path]()
version_key = pytest.StashKey[bool]()
paths_key = pytest.StashKey[ExitStack]()
turns: list[FileLock] = []  # held as long as this process lives
_NAMES = ("lakeward", "pyspark", "py4j", "delta")


def is_disabled() -> bool:
    return os.environ.get("LAKEWARD_DISABLE") == "1"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Configure before the first conftest.py is loaded: pytest configures its plugins only afterwards."""
    early_config.add_cleanup(lambda: pytest_unconfigure(early_config))
    pytest_configure(early_config)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the pytest settings of suites."""
    about = (
        "set DATABRICKS_RUNTIME_VERSION, as on Databricks: for code that looks at it to find out where it is"
    )
    parser.addini("lakeward_runtime_version", about, type="bool", default=False)
    about = "set DATABRICKS_HOST and its relatives to a local workspace, unless they name another one"
    parser.addini("lakeward_workspace", about, type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    """Map the paths of the platform, and wait for the first import of pyspark.sql.

    The suite gets a state folder of its own. Raises pytest.UsageError for invalid settings of the project.
    """
    if is_disabled() or paths_key in config.stash:
        return
    own = current_worker()
    if own is not None and os.environ.get("LAKEWARD_TESTS_HOME"):
        os.environ["LAKEWARD_HOME"] = str(Path(os.environ["LAKEWARD_TESTS_HOME"]) / own.name)
    elif not os.environ.get("LAKEWARD_HOME"):
        # A test that writes a table must not find it in the project's own lakehouse afterwards.
        home = Path(tempfile.mkdtemp(prefix="lakeward-tests-"))
        os.environ["LAKEWARD_HOME"] = os.environ["LAKEWARD_TESTS_HOME"] = str(home)
        config.stash[home_key] = home
    from lakeward.databricks_shims import VERSION, install, runtime_version
    from lakeward.errors import LakewardError
    from lakeward.pipelines import TEST_MODULE
    from lakeward.session import Settings, install_connect_hook, mapped_paths

    install(also={"dlt": dlt, TEST_MODULE: pipeline_tests})
    install_connect_hook()
    if config.getini("lakeward_runtime_version") and VERSION not in os.environ:
        os.environ[VERSION] = runtime_version(settings_here().profile)
        config.stash[version_key] = True
    # From here on pytest_unconfigure has work to do, also after an error.
    paths = config.stash[paths_key] = ExitStack()
    try:
        settings = Settings.here()
        paths.enter_context(mapped_paths(settings))
        make_catalogs(settings)
    except LakewardError as error:
        raise pytest.UsageError(str(error)) from None
    watch = AfterImport(_AFTER_IMPORT, hook_module)
    sys.meta_path.insert(0, watch)
    paths.callback(sys.meta_path.remove, watch)
    for module in watch.imported_modules():
        hook_module(module)
    if config.getini("lakeward_workspace"):
        serve_workspace(paths)


def make_catalogs(settings: Settings) -> None:
    """Make the folders of the declared catalogs: clients of the workspace list them before a session starts.

    A state folder that the user chose is changed by sessions only.
    """
    if "LAKEWARD_TESTS_HOME" in os.environ:
        for name in settings.catalogs:
            (settings.warehouse / name).mkdir(parents=True, exist_ok=True)


def serve_workspace(stack: ExitStack) -> None:
    """Connect clients of a workspace to that of this suite, until `stack` is closed."""
    from lakeward.testing.suite_workspace import (
        chooses_serverless,
        selects_workspace,
        set_variables,
        variables_of,
    )

    if selects_workspace():
        return
    from lakeward.workspace import ServerProcess
    from lakeward.workspace_connection import restore_variables

    workspace = ServerProcess()
    variables = variables_of(workspace)
    if chooses_serverless(Path.cwd()):
        del variables["DATABRICKS_CLUSTER_ID"]
    before = set_variables(variables, os.environ)
    workspace.start()
    stack.callback(workspace.close)
    stack.callback(restore_variables, before)


def hook_module(module: ModuleType) -> None:
    _AFTER_IMPORT[module.__name__]()


def hook_builder() -> None:
    from lakeward.bundle import runtime_here
    from lakeward.errors import LakewardError
    from lakeward.session import (
        Settings,
        install_builder_hook,
        set_default_settings,
        start_on_access,
        use_package_version,
    )

    with suppress(LakewardError):  # the suite's session reports it
        use_package_version(Settings.here(profile=runtime_here(Path.cwd())).profile)
    set_default_settings(settings_here)
    install_builder_hook()
    start_on_access(True)


def hook_pipelines() -> None:
    from lakeward.pipelines import serve_tests

    serve_tests()


_AFTER_IMPORT = {"pyspark.sql": hook_builder, "pyspark.pipelines": hook_pipelines}


def dlt(module: ModuleType) -> None:
    from lakeward.pipelines import fill_dlt

    fill_dlt(module)


def pipeline_tests(module: ModuleType) -> None:
    from lakeward.testing.pipeline_tests import fill

    fill(module)


def settings_here() -> Settings:
    """Return the settings of this folder, on the runtime that its bundle names."""
    from lakeward.bundle import runtime_here
    from lakeward.session import Settings

    return Settings.here(profile=runtime_here(Path.cwd()), conf=share())


def share() -> dict[str, str]:
    """Spark's settings for this worker's share of the machine, once it is its turn to have a JVM."""
    own = current_worker()
    if own is None:
        return {}
    from lakeward.session import available_cores

    mine = worker_budget(own.count, memory=machine_memory(), cores=available_cores())
    if mine.jvms < own.count and not turns:
        # The JVM stays for the next run, unless the user or CI configures otherwise.
        os.environ.setdefault("LAKEWARD_DAEMON", "1")
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "run")
        turns.append(acquire_jvm_slot(Path(tempfile.gettempdir()) / f"lakeward-turns-{run}", mine.jvms))
    return mine.conf()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pluggy.Result[pytest.TestReport], None]:
    """Let a failure show the user's line, not lakeward's, and the settings that can help."""
    # A method of unittest.TestCase catches its errors; pytest's own hook takes them from the item.
    of_test_case = getattr(item, "_excinfo", None) if call.when == "call" else None
    error = None if is_disabled() else call.excinfo or (of_test_case[0] if of_test_case else None)
    if error is not None:
        hide_ours(error, item.config.rootpath)
    outcome = yield
    if error is not None:
        add_hints(outcome.get_result(), error.value, item.path, item.config.rootpath)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pluggy.Result[pytest.CollectReport], None]:
    """Add hints to the error of a file that cannot be imported."""
    outcome = yield
    report = outcome.get_result()
    call: pytest.CallInfo[object] | None = getattr(report, "call", None)
    if call is not None and call.excinfo is not None and not is_disabled():
        error = call.excinfo.value.__cause__ or call.excinfo.value
        add_hints(report, error, collector.path, collector.config.rootpath)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Undo what `pytest_configure` did."""
    paths = config.stash.get(paths_key, None)
    if paths is None:
        return
    del config.stash[paths_key]
    from lakeward.databricks_shims import VERSION, uninstall
    from lakeward.session import set_default_settings, start_on_access

    set_default_settings(None)
    start_on_access(False)
    paths.close()
    uninstall()
    if config.stash.get(version_key, False):
        os.environ.pop(VERSION, None)
    if "lakeward.pipelines" in sys.modules:
        from lakeward.pipelines import stop_serving_tests

        stop_serving_tests()
    home = config.stash.get(home_key, None)
    if home is not None:
        os.environ.pop("LAKEWARD_HOME", None)
        os.environ.pop("LAKEWARD_TESTS_HOME", None)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """Return the Spark session, started for the first test that needs it and shared by the suite."""
    from lakeward.session import session

    return session()


@pytest.fixture
def dbutils() -> Iterator[DBUtils]:
    """`dbutils` with widgets of this test alone, on the lakehouse that is in force."""
    from lakeward.dbutils import DBUtils, Environment, use_environment

    with use_environment(Environment()):
        yield DBUtils()


@pytest.fixture
def lakehouse(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lakehouse]:
    """Yield an empty lakehouse for this test alone; afterwards the session is where it was before."""
    from lakeward.session import Settings, current_settings, resume_session, session
    from lakeward.testing.lakehouse import Lakehouse

    # The suite's own `spark`, where it has one, decides with which settings the session starts.
    request.getfixturevalue("spark")
    before = current_settings()
    folder = tmp_path_factory.mktemp("lakehouse")
    settings = (before or Settings.here()).with_(home=folder, target="test", warehouse_dir=None)
    outer = session(before) if before is not None else None
    yield Lakehouse(session(settings), settings)
    if outer is not None and before is not None:
        resume_session(outer, before)


def hide_ours(found: pytest.ExceptionInfo[BaseException], root: Path) -> None:
    """Have pytest leave out lakeward's, PySpark's, Delta's and py4j's frames; `--full-trace` shows them.

    A package below `root`, the folder of the tests, is the user's own whatever its name. Frames of other
    packages and of the standard library, as of contextlib, are left out where one of these calls them.
    """
    inside = False
    for entry in found.traceback:
        module = entry.frame.f_globals
        name = str(module.get("__name__", "")).split(".")[0]
        if _is_own(Path(str(entry.path)), root):
            continue
        if name in _NAMES:
            inside = True
            # pytest looks for this name in a frame's module as well.
            module["__tracebackhide__"] = True
        elif inside:
            entry.frame.f_locals["__tracebackhide__"] = True


def _is_own(file: Path, root: Path) -> bool:
    return (
        file.is_relative_to(root)
        and not file.is_relative_to(sys.prefix)
        and "site-packages" not in file.parts
    )
