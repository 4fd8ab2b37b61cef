"""Widgets, task values, notebooks and the context: what a runner brings."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from lakeward.dbutils import Context, DBUtils, Environment, JobValues, NotebookExit, dbutils, use_environment
from lakeward.errors import DbutilsError


def test_a_widget_has_its_default_until_the_run_says_otherwise(environment: Environment) -> None:
    environment.arguments = {"day": "2026-01-02", "given": "only"}
    widgets = DBUtils(given=environment).widgets
    widgets.text("day", "2026-01-01", "Day")
    widgets.dropdown("mode", "full", ["full", "delta"])
    widgets.combobox(name="table", defaultValue="orders", choices=[], label="Table")
    widgets.multiselect("regions", "eu,us", ["eu", "us", "ap"])
    assert widgets.get("day") == "2026-01-02"
    assert widgets.get("given") == "only"
    assert widgets.getAll() == {
        "day": "2026-01-02",
        "given": "only",
        "mode": "full",
        "table": "orders",
        "regions": "eu,us",
    }


def test_a_missing_widget_is_caught_as_on_databricks(dbutils: DBUtils) -> None:
    with pytest.raises(Py4JJavaError) as raised:
        dbutils.widgets.get("nope")
    assert "com.databricks.dbutils_v1.InputWidgetNotDefined: No input widget named nope" in str(raised.value)
    assert raised.value.java_exception.getMessage() == "No input widget named nope is defined"
    assert raised.value.java_exception.getClass().getSimpleName() == "InputWidgetNotDefined"
    assert isinstance(raised.value, DbutilsError)
    assert dbutils.widgets.getArgument("nope", "default") == "default"
    with pytest.raises(Exception, match="InputWidgetNotDefined"):
        dbutils.widgets.getArgument("nope")
    with pytest.raises(Exception, match="InputWidgetNotDefined"):
        dbutils.widgets.remove("nope")


def test_widgets_can_be_taken_away(dbutils: DBUtils) -> None:
    dbutils.widgets.text("a", "1")
    dbutils.widgets.text("b", "2")
    dbutils.widgets.remove("a")
    assert dbutils.widgets.getAll() == {"b": "2"}
    dbutils.widgets.removeAll()
    assert dbutils.widgets.getAll() == {}


def test_a_default_outside_of_the_choices_is_refused(dbutils: DBUtils) -> None:
    with pytest.raises(Py4JJavaError, match=r"dropdown widget mode \(fast\) is not one of its choices: full"):
        dbutils.widgets.dropdown("mode", "fast", ["full"])
    assert dbutils.widgets.getAll() == {}


def test_task_values_go_from_one_task_to_the_next(environment: Environment) -> None:
    values: dict[tuple[str, str], str] = {}
    environment.task_values = JobValues(values, "land")
    landing = DBUtils(given=environment).jobs.taskValues
    landing.set("files", {"count": 3})
    landing.set(key="none", value=None)
    environment.task_values = JobValues(values, "check")
    checking = DBUtils(given=environment).jobs.taskValues
    assert checking.get(taskKey="land", key="files", debugValue=0) == {"count": 3}
    assert checking.get("land", "none", default=5) is None
    assert checking.get("land", "other", default=5) == 5
    with pytest.raises(ValueError, match="The task 'land' has set no value 'other'"):
        checking.get("land", "other")
    with pytest.raises(TypeError, match="not JSON serializable"):
        checking.set("bad", object())
    with pytest.raises(ValueError, match="more than 49152 bytes"):
        checking.set("long", "x" * 50_000)


def test_outside_of_a_job_the_debug_value_answers(dbutils: DBUtils) -> None:
    dbutils.jobs.taskValues.set("k", 1)
    assert dbutils.jobs.taskValues.get("land", "k", default=2, debugValue=3) == 3
    with pytest.raises(TypeError, match="Must pass debugValue"):
        dbutils.jobs.taskValues.get("land", "k", default=2)


def test_exit_passes_a_handler_for_exceptions(dbutils: DBUtils) -> None:
    def notebook() -> str:
        try:
            dbutils.notebook.exit(7)  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001  # as users write it
            return "went on"
        return "went on"

    with pytest.raises(NotebookExit) as raised:
        notebook()
    assert raised.value.value == "7"


def test_running_a_notebook_needs_a_runner(dbutils: DBUtils, environment: Environment) -> None:
    with pytest.raises(DbutilsError, match="lakeward notebook"):
        dbutils.notebook.run("./child", 60)
    environment.run_notebook = lambda path, timeout, arguments: f"{path} {timeout} {dict(arguments)}"
    assert dbutils.notebook.run("./child", 60, {"a": "1"}) == "./child 60 {'a': '1'}"


def test_the_context_answers_through_options(environment: Environment) -> None:
    environment.context = Context(user="ada", notebook_path="/Users/ada/nb", job_id="12", run_id="34")
    context = DBUtils(given=environment).notebook.entry_point.getDbutils().notebook().getContext()
    assert context.notebookPath().get() == "/Users/ada/nb"
    assert context.apiUrl().get().startswith("https://")
    assert context.apiToken().getOrElse(None)
    assert context.tags().get("jobId").get() == "12"
    assert context.tags().apply("user") == "ada"
    assert context.currentRunId().isDefined()
    assert context.notebookId().isEmpty()
    assert context.notebookId().getOrElse(lambda: "none") == "none"
    with pytest.raises(Py4JJavaError, match=r"NoSuchElementException: None\.get"):
        context.notebookId().get()
    with pytest.raises(Py4JJavaError, match="key not found: nope"):
        context.tags().apply("nope")
    whole = json.loads(context.toJson())
    assert whole["tags"]["jobId"] == "12"
    assert whole["extraContext"]["notebook_path"] == "/Users/ada/nb"
    assert whole["currentRunId"] == {"id": "34"}
    safe = context.safeToJson()
    assert json.loads(safe)["attributes"]["notebook_path"] == "/Users/ada/nb"
    assert context.apiToken().get() not in safe


def test_outside_of_a_notebook_the_folder_is_its_place(dbutils: DBUtils) -> None:
    context = dbutils.notebook.entry_point.getDbutils().notebook().getContext()
    assert context.notebookPath().get() == "/Users/ada/project"
    assert json.loads(context.toJson())["currentRunId"] is None


@pytest.mark.parametrize("holder", [lambda utilities: utilities, lambda utilities: utilities.notebook])
def test_both_entry_points_lead_to_the_same_context(
    environment: Environment, holder: Callable[[DBUtils], Any]
) -> None:
    environment.context = Context(user="ada", notebook_path="/Users/ada/nb", job_id="12", run_id="34")
    utilities = DBUtils(given=environment)
    context = holder(utilities).entry_point.getDbutils().notebook().getContext()
    assert context.toJson() == utilities.notebook.getContext().toJson()


def test_what_a_run_brings_holds_in_its_block_and_in_its_threads(environment: Environment) -> None:
    environment.arguments = {"day": "1"}
    shared = dbutils()
    with use_environment(environment):
        inner = Environment(settings=environment.settings, arguments={"day": "2"})
        with use_environment(inner):
            assert shared.widgets.get("day") == "2"
        assert shared.widgets.get("day") == "1"
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(shared.widgets.get, "day").result() == "1"
    assert "day" not in shared.widgets.getAll()


def test_two_tasks_at_once_see_each_its_own(environment: Environment) -> None:
    both = threading.Barrier(2, timeout=5)

    def task(day: str) -> str:
        with use_environment(Environment(settings=environment.settings, arguments={"day": day})):
            both.wait()
            return dbutils().widgets.get("day")

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(task, "12")) == ["1", "2"]


def test_restarting_python_says_once_that_it_does_nothing(
    dbutils: DBUtils, capsys: pytest.CaptureFixture[str]
) -> None:
    dbutils.library.restartPython()
    dbutils.library.restartPython()
    assert capsys.readouterr().err.count("no effect") <= 1
