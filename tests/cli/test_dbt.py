"""`lakeward dbt`: what dbt gets, with a dbt that prints it; and a real one that builds a project."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lakeward import environments
from lakeward.cli import workspace_on_demand as on_demand
from lakeward.session import Settings
from tests.cli.inside import Inside, Ran
from tests.trees import write_files

VARIABLES = ("DBT_HOST", "DBT_HTTP_PATH", "DBT_CATALOG", "DBT_SCHEMA", "LAKEWARD_CATALOGS")
DBT = f"""
import json, os, pathlib, sys

NAMES = {VARIABLES!r}
"""
DBT += """

def cli():
    profiles = pathlib.Path(os.environ["DBT_PROFILES_DIR"], "profiles.yml")
    print(json.dumps({
        "arguments": sys.argv[1:], "folder": os.getcwd(), "profiles": profiles.read_text(),
        "variables": {name: os.environ.get(name) for name in NAMES},
    }))
    if pathlib.Path("results.json").is_file():
        target = pathlib.Path(os.environ.get("DBT_TARGET_PATH", "target"))
        target.mkdir(exist_ok=True)
        (target / "run_results.json").write_text(pathlib.Path("results.json").read_text())
    sys.exit({"fail": 1, "wrong": 2}.get(sys.argv[1], 0))
"""
OF_DBT = ("DBT_PROFILES_DIR", "DBT_PROJECT_DIR", "DBT_PROFILE", "DBT_TARGET")
PROJECT = {"dbt_project.yml": "name: shop\nprofile: shop\n"}
PROFILE = """
shop:
  target: dev
  outputs:
    dev: {type: databricks, host: a.cloud.test, token: secret, catalog: sales, schema: raw, threads: 2}
    prod: {type: databricks, host: b.cloud.test, token: secret, catalog: prod, schema: raw}
    lake: {type: duckdb, path: ':memory:'}
"""


@pytest.fixture
def fake_dbt(
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Inside]:
    """Commands in an empty folder, with a package `dbt` that prints what it is given."""
    folder = tmp_path_factory.mktemp("dbt")
    modules = ("dbt/__init__.py", "dbt/cli/__init__.py", "dbt/adapters/databricks/__init__.py")
    write_files(folder, {**dict.fromkeys(modules, ""), "dbt/cli/main.py": DBT})
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    for name in (*VARIABLES, *OF_DBT, "LAKEWARD_HOME"):
        monkeypatch.delenv(name, raising=False)
    yield Inside(tmp_path, capfd, monkeypatch)
    for name in [each for each in sys.modules if each.partition(".")[0] == "dbt"]:
        del sys.modules[name]


def seen(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran.stdout)
    found["profile"] = YAML(typ="safe").load(found["profiles"])
    return found


def test_everything_from_the_command_on_is_for_dbt(fake_dbt: Inside) -> None:
    write_files(fake_dbt.folder, PROJECT)
    command = ("build", "-t", "prod", "--select", "a b", "--vars", "{x: 1}", "--help", "--schema", "no")
    ran = fake_dbt("dbt", "--schema", "mine", *command)
    assert ran.returncode == 0, ran.stderr
    found = seen(ran)
    assert found["arguments"] == list(command)
    assert found["folder"] == str(fake_dbt.folder)
    assert found["variables"]["DBT_SCHEMA"] == "mine"


@pytest.mark.parametrize(("command", "code"), [("run", 0), ("fail", 1), ("wrong", 2)])
def test_the_exit_code_is_that_of_dbt(fake_dbt: Inside, command: str, code: int) -> None:
    write_files(fake_dbt.folder, PROJECT)
    assert fake_dbt("dbt", command).returncode == code


@pytest.mark.parametrize("place", ["", "profiles/", "working/"])
@pytest.mark.parametrize("target", [(), ("--target", "prod"), ("--target=prod",), ("-t", "prod")])
def test_the_profile_of_the_project_leads_to_the_workspace(
    fake_dbt: Inside, place: str, target: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(fake_dbt.folder, {**PROJECT, f"{place}profiles.yml": PROFILE, "working/a": ""})
    option = ("--profiles-dir", "profiles") if place == "profiles/" else ()
    at = fake_dbt.at(fake_dbt.folder / "working") if place == "working/" else fake_dbt
    ran = at("dbt", "run", *option, *target)
    assert ran.returncode == 0, ran.stderr
    assert "cloud.test" not in ran.stdout
    assert "secret" not in ran.stdout
    found = seen(ran)
    assert found["arguments"] == ["run", *target]
    outputs = found["profile"]["shop"]["outputs"]
    assert (outputs["dev"]["catalog"], outputs["dev"]["schema"], outputs["dev"]["threads"]) == (
        "sales",
        "raw",
        2,
    )
    assert found["variables"]["DBT_HTTP_PATH"].startswith("/sql/1.0/warehouses/")
    assert found["variables"]["LAKEWARD_CATALOGS"] == ("prod" if target else "sales")


@pytest.mark.parametrize("way", ["option", "joined", "variable", "project"])
@pytest.mark.parametrize("target", ["option", "joined", "short", "variable", "profile"])
def test_each_way_to_choose_profile_and_target_is_that_of_dbt(
    fake_dbt: Inside, way: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = "other" if way == "project" else "shop"
    profile = PROFILE.replace("shop:", "other:")
    write_files(fake_dbt.folder, {"dbt_project.yml": f"name: a\nprofile: {named}\n", "profiles.yml": profile})
    arguments = {
        ("profile", "option"): ("--profile", "other"),
        ("profile", "joined"): ("--profile=other",),
        ("target", "option"): ("--target", "prod"),
        ("target", "joined"): ("--target=prod",),
        ("target", "short"): ("-t", "prod"),
    }
    for name, value, chosen in (("PROFILE", "other", way), ("TARGET", "prod", target)):
        if chosen == "variable":
            monkeypatch.setenv(f"DBT_{name}", value)
    given = (*arguments.get(("profile", way), ()), *arguments.get(("target", target), ()))
    found = seen(fake_dbt("dbt", "run", *given))
    assert list(found["profile"]) == ["other"]
    assert found["profile"]["other"]["outputs"]["dev"]["schema"] == "raw"
    assert found["variables"]["LAKEWARD_CATALOGS"] == ("sales" if target == "profile" else "prod")


@pytest.mark.parametrize(
    ("options", "state"),
    [((), "dev"), (("-t", "dev"), "dev"), (("--target", "prod"), "prod"), (("-t", "no"), "")],
)
def test_a_target_before_the_command_is_one_of_the_bundle(
    fake_dbt: Inside, options: tuple[str, ...], state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Path] = []

    def serve(settings: Settings, *others: Any) -> AbstractContextManager[None]:
        served.append(settings.state)
        return original(settings, *others)

    original = on_demand.workspace_on_demand
    monkeypatch.setattr(on_demand, "workspace_on_demand", serve)
    bundle = "bundle: {name: b}\ntargets: {dev: {default: true}, prod: {}}\n"
    write_files(fake_dbt.folder, {**PROJECT, "databricks.yml": bundle, "profiles.yml": PROFILE})
    ran = fake_dbt("dbt", *options, "run", "-t", "prod")
    assert ran.returncode == (0 if state else 2), ran.stderr
    if not state:
        assert "`no`" in ran.stderr
        return
    assert seen(ran)["arguments"] == ["run", "-t", "prod"]
    assert served == [fake_dbt.folder / ".lakeward" / state]


def test_a_project_without_a_profile_has_names_of_its_own(fake_dbt: Inside) -> None:
    write_files(fake_dbt.folder, PROJECT)
    found = seen(fake_dbt("dbt", "--catalog", "own", "run"))
    (output,) = found["profile"]["shop"]["outputs"].values()
    assert output["catalog"] == "own"
    assert (found["variables"]["DBT_CATALOG"], found["variables"]["DBT_SCHEMA"]) == ("own", "default")
    assert found["variables"]["LAKEWARD_CATALOGS"] == "own"
    write_files(fake_dbt.folder, {"dbt_project.yml": "name: shop\nmodels: {shop: {+database: curated}}\n"})
    assert seen(fake_dbt("dbt", "run"))["variables"]["LAKEWARD_CATALOGS"] == "curated"


def test_variables_of_the_user_name_catalog_and_schema(
    fake_dbt: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(fake_dbt.folder, PROJECT)
    monkeypatch.setenv("DBT_SCHEMA", "of_the_user")
    assert seen(fake_dbt("dbt", "run"))["variables"]["DBT_SCHEMA"] == "of_the_user"
    assert seen(fake_dbt("dbt", "--schema", "given", "run"))["variables"]["DBT_SCHEMA"] == "given"


@pytest.mark.parametrize("options", [(), ("--schema", "given"), ("--catalog", "given")])
@pytest.mark.parametrize("name", ["schema", "catalog"])
def test_defaults_of_the_profile_are_those_without_the_variable(
    fake_dbt: Inside, name: str, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform's variables DBT_SCHEMA and DBT_CATALOG replaced what profiles have for their absence."""
    variable = f"DBT_{name.upper()}"
    stated = f"\"{{{{ env_var('{variable}', 'of_the_profile') }}}}\""
    profile = PROFILE.replace("sales" if name == "catalog" else "raw", stated)
    write_files(fake_dbt.folder, {**PROJECT, "profiles.yml": profile})
    ran = fake_dbt("dbt", *options, "run")
    is_given = f"--{name}" in options
    assert seen(ran)["variables"][variable] == ("given" if is_given else None)
    catalogs = {("catalog", False): "of_the_profile", ("catalog", True): "given"}
    other = "given" if "--catalog" in options else "sales"
    assert seen(ran)["variables"]["LAKEWARD_CATALOGS"] == catalogs.get((name, is_given), other)
    monkeypatch.setenv(variable, "of_the_user")
    wanted = "given" if is_given else "of_the_user"
    assert seen(fake_dbt("dbt", *options, "run"))["variables"][variable] == wanted


@pytest.mark.parametrize("folder", ["--project-dir", "DBT_PROJECT_DIR"])
def test_the_project_may_be_in_another_folder(
    fake_dbt: Inside, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(fake_dbt.folder, {"elsewhere/dbt_project.yml": "name: a\nprofile: b\n"})
    option = (folder, "elsewhere") if folder.startswith("-") else ()
    if not option:
        monkeypatch.setenv(folder, "elsewhere")
    assert list(seen(fake_dbt("dbt", "run", *option))["profile"]) == ["b"]


@pytest.mark.parametrize("variable", ["MY_NAME", "DBT_SCHEMA", "DBT_CATALOG"])
@pytest.mark.parametrize("field", ["catalog", "schema"])
def test_a_variable_of_the_profile_that_is_not_set(
    fake_dbt: Inside, field: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = f"\"dev_{{{{ env_var('{variable}') }}}}\""
    profile = PROFILE.replace("sales" if field == "catalog" else "raw", stated)
    write_files(fake_dbt.folder, {**PROJECT, "profiles.yml": profile})
    ran = fake_dbt("dbt", "run")
    assert ran.returncode == 2
    assert "[DBT_VARIABLE_MISSING]" in ran.stderr
    assert variable in ran.stderr
    assert f"--{field} NAME" in ran.stderr
    assert fake_dbt("dbt", f"--{field}", "own", "run").returncode == 0
    monkeypatch.setenv(variable, "ada")
    assert fake_dbt("dbt", "run").returncode == 0


def test_a_profile_for_another_platform_is_a_wrong_configuration(fake_dbt: Inside) -> None:
    write_files(fake_dbt.folder, {**PROJECT, "profiles.yml": PROFILE})
    ran = fake_dbt("dbt", "run", "--target", "lake")
    assert ran.returncode == 2
    assert "[DBT_PROFILE_NOT_SUPPORTED]" in ran.stderr
    assert "--target dev" in ran.stderr


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("dbt-databricks==1.9.1", ["dbt-core", "dbt-databricks==1.9.1"]),
        ("dbt_core>=1.8", ["dbt-databricks", "dbt_core>=1.8"]),
        ("dbt-expectations", ["dbt-databricks", "dbt-core", "dbt-expectations"]),
        ("./wheels/a.whl", ["dbt-databricks", "dbt-core", "./wheels/a.whl"]),
    ],
)
def test_with_replaces_the_version_of_a_package(
    fake_dbt: Inside, given: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(fake_dbt.folder, PROJECT)
    requested: list[str] = []

    def get(_: environments.Layers, found: list[str], **__: object) -> None:
        requested.extend(found)

    monkeypatch.setattr(environments.Layers, "get", get)
    assert fake_dbt("dbt", "--with", given, "run").returncode == 0
    assert [each if each == given else each.partition("<")[0] for each in requested] == lines


def missing(*names: str, status: str = "error") -> str:
    message = "Database Error in model m (models/m.sql)\\n  [TABLE_OR_VIEW_NOT_FOUND] The table or view {} "
    texts = [message.format(".".join(f"`{part}`" for part in name.split("."))) for name in names]
    found = [f'{{"status": "{status}", "message": "{text}cannot be found. Verify"}}' for text in texts]
    return f'{{"results": [{", ".join([*found, *found])}, {{"status": "success", "message": "OK"}}]}}'


@pytest.mark.parametrize("place", ["target", "elsewhere"])
@pytest.mark.parametrize(
    ("results", "hint"),
    [
        (missing("raw.shop.customers"), "`lakeward seed raw.shop.customers --from FILE`"),
        (missing("raw.shop.a", "raw.shop.b"), "Nothing in the repository creates raw.shop.a, raw.shop.b. "),
        (missing(*(f"raw.shop.t{k}" for k in range(7))), "raw.shop.t4 and 2 more. "),
        (missing("sales.raw.orders"), "models/orders.sql:1 is the dbt model `orders`"),
        (missing("raw.shop.customers", status="skipped"), None),
        ("{", None),
        (None, None),
    ],
)
def test_a_failure_names_how_to_get_the_tables_that_are_missing(
    fake_dbt: Inside, results: str | None, hint: str | None, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(fake_dbt.folder, {**PROJECT, "profiles.yml": PROFILE, "models/orders.sql": "select 1 as id"})
    if place == "elsewhere":
        monkeypatch.setenv("DBT_TARGET_PATH", place)
    if results is not None:
        write_files(fake_dbt.folder, {"results.json": results})
    assert "→" not in fake_dbt("dbt", "run").stderr, "a command that succeeds has no hints"
    (fake_dbt.folder / "results.json").unlink(missing_ok=True)
    assert "→" not in fake_dbt("dbt", "fail").stderr, "results of an earlier command"
    if results is not None:
        write_files(fake_dbt.folder, {"results.json": results})
    ran = fake_dbt("dbt", "fail")
    assert ran.returncode == 1
    assert ran.stderr.count("→") == (0 if hint is None else 1)
    assert (hint or "") in ran.stderr


@pytest.mark.process
@pytest.mark.slow
def test_a_project_is_built_by_dbt_itself(inside: Inside, tmp_path: Path) -> None:
    write_files(
        inside.folder,
        {
            **PROJECT,
            "profiles.yml": PROFILE,
            "seeds/orders.csv": "id,amount\n1,10\n2,20\n",
            "models/large.sql": "select * from {{ ref('orders') }} where amount > 10",
            "models/schema.yml": "models: [{name: large, columns: [{name: id, data_tests: [unique]}]}]",
        },
    )
    ran = inside("dbt", "build")
    if "INDEX_NOT_REACHABLE" in ran.stderr:
        pytest.skip("the package index cannot be reached")
    assert ran.returncode == 0, ran.stdout
    assert "PASS=3" in ran.stdout
    ran = inside("sql", "--format", "csv", "-e", "select id, amount from sales.raw.large")
    assert ran.stdout.split() == ["id,amount", "2,20"]
