"""`lakeward bundle deploy`, `run` and `destroy` against a server: twice is once, and nothing is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from lakeward.bundle import RESOURCE_KINDS
from tests.environments.conftest import make_wheel
from tests.environments.index import use_folder_index
from tests.processes import outcome
from tests.trees import write_files

BUNDLE = """\
bundle: {name: story}
artifacts: {tool: {type: whl, path: .}}
resources:
  schemas:
    s: {catalog_name: main, name: story, grants: [{principal: team, privileges: [USE_SCHEMA, SELECT]}]}
  volumes: {v: {catalog_name: main, schema_name: "${resources.schemas.s.name}", name: landing}}
  secret_scopes: {sc: {name: story, permissions: [{level: READ, group_name: team}]}}
  pipelines:
    p: {name: p, catalog: main, schema: story, libraries: [{file: {path: src/p.py}}]}
  jobs:
    j:
      name: story
      permissions: [{level: CAN_VIEW, group_name: team}]
      parameters: [{name: who, default: other}]
      environments: [{environment_key: e, spec: {dependencies: [dist/*.whl]}}]
      tasks:
        - task_key: file
          environment_key: e
          spark_python_task: {python_file: src/hello.py, parameters: ["{{job.parameters.who}}"]}
        - {task_key: wheel, environment_key: e, python_wheel_task: {package_name: tool, entry_point: show}}
    k:
      name: refresh
      tasks: [{task_key: p, pipeline_task: {pipeline_id: "${resources.pipelines.p.id}"}}]
targets: {dev: {}}
"""
FILES = {
    "databricks.yml": BUNDLE,
    "src/p.py": "",
    "src/hello.py": "import sys\nassert sys.argv[1] == 'me', sys.argv\n",
    "src/tool/__init__.py": "def main():\n    assert 'src' not in __file__, __file__\n",
    "pyproject.toml": '[project]\nname = "tool"\nversion = "1"\n[project.scripts]\nshow = "tool:main"\n'
    '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    '[tool.hatch.build.targets.wheel]\npackages = ["src/tool"]\n',
    ".gitignore": ".lakeward/\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path, FILES)


def environment() -> dict[str, str]:
    environ = {**os.environ, "LAKEWARD_DAEMON": "0"}
    environ.pop("LAKEWARD_HOME", None)
    return environ


def bundle(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lakeward", "bundle", *arguments]
    return outcome(command, cwd=folder, env=environment(), timeout=300)


@contextmanager
def served(folder: Path) -> Iterator[Callable[..., Any]]:
    """Serve the workspace of a folder; yield a function that requests a path."""
    command = [sys.executable, "-m", "lakeward", "workspace", "--json"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            connection = json.loads(Path(json.loads(server.stdout.readline())["connection"]).read_text())
            headers = {"Authorization": f"Bearer {connection['token']}"}
            yield lambda path, method="GET", body=None: requests.request(
                method, connection["host"] + path, headers=headers, json=body, timeout=120
            ).json()
        finally:
            server.terminate()


def granted(ask: Callable[..., Any]) -> dict[str, list[str]]:
    answer = ask("/api/2.1/unity-catalog/permissions/schema/main.story")
    return {each["principal"]: each["privileges"] for each in answer["privilege_assignments"]}


@pytest.mark.slow
def test_deploy_run_deploy_destroy(folder: Path) -> None:
    with served(folder) as ask:
        # As `lakeward run` has left it.
        (folder / ".lakeward/dev/warehouse/main/story").mkdir(parents=True)
        first = bundle(folder, "deploy")
        assert first.returncode == 0, first.stderr
        assert first.stdout.count("created ") == 6
        assert granted(ask) == {"team": ["SELECT", "USE_SCHEMA"]}
        ran = bundle(folder, "run", "j", "--params", "who=me")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert ran.stdout.count("SUCCESS") == 3
        one = bundle(folder, "run", "j", "--only", "wheel", "-o", "json")
        output = json.loads(one.stdout)
        assert (one.returncode, output["state"]) == (0, "COMPLETED"), one.stderr
        states = {task["task_key"]: task["state"] for task in output["tasks"]}
        assert states == {"file": "EXCLUDED", "wheel": "SUCCESS"}
        wrong = bundle(folder, "run", "j")
        assert wrong.returncode == 1
        assert "['" in wrong.stderr
        second = bundle(folder, "deploy")
        assert second.stdout.startswith("Deployed story as dev: 0 files, 0 resources changed.\n")
        text = FILES["databricks.yml"].replace("name: refresh", "name: refreshed")
        text = text.replace("  volumes:", "  #").replace(
            "principal: team, privileges: [USE_SCHEMA", "principal: all, privileges: [USE_SCHEMA"
        )
        (folder / "databricks.yml").write_text(text)
        third = bundle(folder, "deploy")
        assert "updated jobs.k" in third.stdout and "deleted volumes.v" in third.stdout, third.stderr
        assert "updated schemas.s" in third.stdout
        assert granted(ask) == {"all": ["SELECT", "USE_SCHEMA"]}
        fourth = json.loads(bundle(folder, "deploy", "-o", "json").stdout)
        assert (fourth["files"], fourth["created"], len(fourth["unchanged"])) == (0, [], 5)
        unasked = bundle(folder, "destroy")
        assert (unasked.returncode, "--auto-approve" in unasked.stderr) == (2, True)
        gone = json.loads(bundle(folder, "destroy", "--auto-approve", "-o", "json").stdout)
        assert len(gone["deleted"]) == 5
        again = bundle(folder, "destroy", "--auto-approve")
        assert "0 resources" in again.stdout
        assert not (folder / ".lakeward/dev/workspace/Users/other").exists()


SHARED = """
bundle: {name: shared}
targets: {dev: {}}
resources:
  schemas:
    s:
      catalog_name: main
      name: shared
      comment: c
      grants: [{principal: team, privileges: [SELECT]}]
  secret_scopes:
    sc:
      name: keys
      permissions: [{level: READ, group_name: team}]
  jobs:
    j:
      name: j
      permissions: [{level: CAN_VIEW, group_name: team}]
      tasks: [{task_key: a, existing_cluster_id: c, spark_python_task: {python_file: sleep.py}}]
"""


@pytest.mark.slow
def test_permissions_and_grants_that_the_bundle_has_no_more_are_withdrawn(tmp_path: Path) -> None:
    write_files(tmp_path, {"databricks.yml": SHARED, "sleep.py": "", ".gitignore": ".lakeward/"})
    with served(tmp_path) as ask:

        def shared() -> list[bool]:
            (job,) = ask("/api/2.2/jobs/list")["jobs"]
            answers = (
                ask("/api/2.1/unity-catalog/permissions/schema/main.shared"),
                ask("/api/2.0/secrets/acls/list?scope=keys"),
                ask(f"/api/2.0/permissions/jobs/{job['job_id']}"),
            )
            return ["team" in json.dumps(answer) for answer in answers]

        assert bundle(tmp_path, "deploy").returncode == 0
        assert shared() == [True, True, True]
        text = "\n".join(line for line in SHARED.splitlines() if "team" not in line)
        (tmp_path / "databricks.yml").write_text(text)
        assert bundle(tmp_path, "deploy").stdout.count("updated ") == 3
        assert shared() == [False, False, False]
        # What was given in the workspace stays.
        change = {"changes": [{"principal": "team", "add": ["SELECT"]}]}
        granted = ask("/api/2.1/unity-catalog/permissions/schema/main.shared", "PATCH", change)
        assert granted["privilege_assignments"]
        (tmp_path / "databricks.yml").write_text(text.replace("comment: c", "comment: d"))
        assert "updated schemas.s" in bundle(tmp_path, "deploy").stdout
        assert shared() == [True, False, False]
        gone = json.loads(bundle(tmp_path, "destroy", "--auto-approve", "-o", "json").stdout)
        assert sorted(gone["deleted"]) == ["jobs.j", "schemas.s", "secret_scopes.sc"]
        assert not ask("/api/2.0/secrets/scopes/list").get("scopes")


SLEEPER = """
bundle: {name: sleeper}
targets: {dev: {}}
resources:
  jobs:
    j:
      name: j
      tasks: [{task_key: a, existing_cluster_id: c, spark_python_task: {python_file: sleep.py}}]
"""


@pytest.mark.slow
def test_a_command_whose_workspace_is_killed_reports_it(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text(SLEEPER)
    (tmp_path / "sleep.py").write_text("import time\ntime.sleep(100)")
    command = [sys.executable, "-m", "lakeward"]
    pipes = {"cwd": tmp_path, "env": environment(), "stdout": subprocess.PIPE, "text": True}
    with ExitStack() as stack:
        server = stack.enter_context(subprocess.Popen([*command, "workspace", "--json"], **pipes))
        stack.callback(server.kill)
        assert server.stdout is not None and server.stdout.readline()
        deployed = bundle(tmp_path, "deploy")
        assert "try next  lakeward bundle run j -t dev" in deployed.stdout, deployed.stderr
        started = [*command, "bundle", "run", "j"]
        run = stack.enter_context(subprocess.Popen(started, stderr=subprocess.PIPE, **pipes))
        stack.callback(run.kill)
        assert run.stderr is not None
        assert "RUNNING" in run.stderr.readline()
        server.kill()
        _, output = run.communicate(timeout=120)
    assert run.returncode == 1
    assert "[WORKSPACE_GONE]" in output and "lakeward workspace" in output and "Traceback" not in output


def test_another_host_is_refused_and_the_cli_named(folder: Path) -> None:
    (folder / "databricks.yml").write_text(BUNDLE + "workspace: {host: https://adb-1.azuredatabricks.net}\n")
    refused = bundle(folder, "deploy")
    assert refused.returncode == 2
    assert "HOST_NOT_LOCAL" in refused.stderr
    assert "databricks bundle deploy" in refused.stderr
    assert "lakeward bundle deploy -t dev --local" in refused.stderr


@pytest.mark.slow
def test_local_overrides_the_host_and_names_what_is_left_out(tmp_path: Path) -> None:
    """Every kind that a local deployment does not create, in one bundle for another host."""
    others = [kind.name for kind in RESOURCE_KINDS.values() if not kind.deployed]
    text = "bundle: {name: all}\nworkspace: {host: https://adb-1.azuredatabricks.net}\nresources:\n"
    text += "  catalogs: {mine: {name: mine, comment: c}}\n"
    text += "".join(f"  {kind}: {{{kind}_key: {{name: n}}}}\n" for kind in others)
    text += "  jobs: {j: {name: j, tasks: [{task_key: t, spark_python_task: {python_file: t.py}}],\n"
    text += "    description: '${resources.genie_spaces.genie_spaces_key.space_id}'}}\n"
    text = text.replace("python_file: t.py}", "python_file: t.py}, existing_cluster_id: c")
    write_files(tmp_path, {"databricks.yml": text, "t.py": "print(1)\n", ".gitignore": ".lakeward/\n"})
    with served(tmp_path):
        deployed = bundle(tmp_path, "deploy", "--local")
        assert deployed.returncode == 0, deployed.stderr
        for kind in others:
            assert f"the resource {kind}.{kind}_key is not deployed".capitalize() in deployed.stderr, kind
        assert "lakeward bundle run j -t default --local" in deployed.stdout
        assert "created catalogs.mine" in deployed.stdout
        again = json.loads(bundle(tmp_path, "deploy", "--local", "-o", "json").stdout)
        assert (again["created"], again["updated"]) == ([], [])
        assert len(again["findings"]) == len(others)
        summary = json.loads(bundle(tmp_path, "summary", "--local", "-o", "json").stdout)
        connection = json.loads((tmp_path / ".lakeward/default/workspace/connection.json").read_text())
        assert summary["host"] == connection["host"]
        job = summary["resources"]["jobs"]["j"]
        assert isinstance(job["id"], int) and job["deployed"] is True
        assert bundle(tmp_path, "run", "j", "--local").returncode == 0
        for command in (["run", "j"], ["destroy", "--auto-approve"]):
            assert "HOST_NOT_LOCAL" in bundle(tmp_path, *command).stderr
        destroyed = bundle(tmp_path, "destroy", "--auto-approve", "--local")
        assert "deleted jobs.j" in destroyed.stdout and "deleted catalogs.mine" in destroyed.stdout


def test_catalogs_of_resources_exist_after_the_first_deployment(tmp_path: Path) -> None:
    """On the platform an administrator has created them."""
    resources = """\
bundle: {name: story}
resources:
  catalogs: {c: {name: declared}}
  schemas:
    s: {catalog_name: sales, name: story}
    t: {catalog_name: "${resources.catalogs.c.name}", name: story}
  volumes: {v: {catalog_name: files, schema_name: default, name: landing}}
  pipelines: {p: {name: p, catalog: silver, schema: story, libraries: [{file: {path: p.py}}]}}
targets: {dev: {}}
"""
    write_files(tmp_path, {"databricks.yml": resources, "p.py": ""})
    for changed in (5, 0):
        done = bundle(tmp_path, "deploy")
        assert done.returncode == 0, done.stderr
        assert f"{changed} resources changed" in done.stdout
    warehouse = tmp_path / ".lakeward/dev/warehouse"
    assert {"sales", "declared", "files", "silver"} <= {each.name for each in warehouse.iterdir()}


def test_a_dashboard_is_deployed_published_changed_and_removed(tmp_path: Path) -> None:
    text = """\
bundle: {name: story}
resources:
  dashboards:
    d:
      display_name: fitness
      file_path: fitness.lvdash.json
      warehouse_id: w
      permissions: [{level: CAN_READ, group_name: g}]
targets: {dev: {}}
"""
    write_files(tmp_path, {"databricks.yml": text, "fitness.lvdash.json": '{"pages": []}'})
    with served(tmp_path) as ask:
        for expected in ("created dashboards.d", "0 resources changed"):
            done = bundle(tmp_path, "deploy")
            assert done.returncode == 0, done.stderr
            assert "not deployed" not in done.stderr
            assert expected in done.stdout
        write_files(tmp_path, {"fitness.lvdash.json": '{"pages": [1]}'})
        assert "updated dashboards.d" in bundle(tmp_path, "deploy").stdout
        (found,) = ask("/api/2.0/lakeview/dashboards")["dashboards"]
        draft = ask(f"/api/2.0/lakeview/dashboards/{found['dashboard_id']}")
        assert (draft["display_name"], draft["serialized_dashboard"]) == ("fitness", '{"pages": [1]}')
        assert draft["parent_path"].endswith("/.bundle/story/dev/resources")
        published = ask(f"/api/2.0/lakeview/dashboards/{found['dashboard_id']}/published")
        assert published["warehouse_id"] == "w"
        acl = ask(f"/api/2.0/permissions/dashboards/{found['dashboard_id']}")["access_control_list"]
        assert "g" in {each.get("group_name") for each in acl}
        assert bundle(tmp_path, "destroy", "--auto-approve").returncode == 0
        assert ask("/api/2.0/lakeview/dashboards").get("dashboards", []) == []


ALERT = """\
bundle: {name: story}
resources:
  alerts:
    a:
      display_name: late
      warehouse_id: 0123456789abcdef
      query_text: SELECT 7 AS n
      evaluation: {source: {name: n}, comparison_operator: EQUAL, threshold: {value: {double_value: 7}}}
      schedule: {quartz_cron_schedule: "0 0 8 * * ?", timezone_id: UTC}
      permissions: [{level: CAN_RUN, group_name: g}]
  dashboards:
    d:
      display_name: sales
      serialized_dashboard:
        datasets: [{name: x, query: "SELECT 1 AS one"}]
        pages: [{name: p, layout: [{widget: {queries: [{query: {datasetName: x}}]}}]}]
  jobs:
    j:
      name: j
      tasks:
        - {task_key: a, alert_task: {alert_id: "${resources.alerts.a.id}", warehouse_id: 0123456789abcdef}}
        - {task_key: d, dashboard_task: {dashboard_id: "${resources.dashboards.d.id}"}}
targets: {dev: {}}
"""


@pytest.mark.slow
@pytest.mark.process
def test_an_alert_is_deployed_changed_evaluated_by_a_task_and_removed(tmp_path: Path) -> None:
    write_files(tmp_path, {"databricks.yml": ALERT})
    with served(tmp_path) as ask:
        for expected in ("created alerts.a", "0 resources changed"):
            done = bundle(tmp_path, "deploy")
            assert done.returncode == 0, done.stderr
            assert "not deployed" not in done.stderr
            assert expected in done.stdout
        (found,) = ask("/api/2.0/alerts")["alerts"]
        assert found["parent_path"].endswith("/.bundle/story/dev/resources")
        acl = ask(f"/api/2.0/permissions/alertsv2/{found['id']}")["access_control_list"]
        assert "g" in {each.get("group_name") for each in acl}
        write_files(tmp_path, {"databricks.yml": ALERT.replace("display_name: late", "display_name: later")})
        assert "updated alerts.a" in bundle(tmp_path, "deploy").stdout
        assert ask(f"/api/2.0/alerts/{found['id']}")["display_name"] == "later"
        assert bundle(tmp_path, "run", "j").returncode == 0
        (run,) = ask("/api/2.2/jobs/runs/list?expand_tasks=true")["runs"]
        ids = {task["task_key"]: task["run_id"] for task in run["tasks"]}
        output = ask(f"/api/2.2/jobs/runs/get-output?run_id={ids['a']}")
        assert output["alert_output"] == {"alert_state": "TRIGGERED"}
        assert "x: refreshed" in ask(f"/api/2.2/jobs/runs/get-output?run_id={ids['d']}")["logs"]
        assert bundle(tmp_path, "destroy", "--auto-approve").returncode == 0
        assert ask("/api/2.0/alerts").get("alerts", []) == []


@pytest.mark.slow
def test_a_dashboard_in_yaml_is_renamed_and_created_again_after_its_trash(tmp_path: Path) -> None:
    text = """\
bundle: {name: story}
resources:
  dashboards:
    d:
      display_name: NAME
      embed_credentials: true
      serialized_dashboard: {pages: [{name: p}]}
targets: {dev: {}}
"""
    write_files(tmp_path, {"databricks.yml": text.replace("NAME", "fitness")})
    with served(tmp_path) as ask:
        assert "created dashboards.d" in bundle(tmp_path, "deploy").stdout
        (first,) = ask("/api/2.0/lakeview/dashboards")["dashboards"]
        path = f"/api/2.0/lakeview/dashboards/{first['dashboard_id']}"
        assert json.loads(ask(path)["serialized_dashboard"]) == {"pages": [{"name": "p"}]}
        assert ask(f"{path}/published")["embed_credentials"] is True
        write_files(tmp_path, {"databricks.yml": text.replace("NAME", "health")})
        assert "updated dashboards.d" in bundle(tmp_path, "deploy").stdout
        assert ask(path)["display_name"] == "health"
        ask(path, method="DELETE")
        done = bundle(tmp_path, "deploy")
        assert "created dashboards.d" in done.stdout, done.stderr
        (second,) = ask("/api/2.0/lakeview/dashboards")["dashboards"]
        assert second["dashboard_id"] != first["dashboard_id"]


def test_a_dashboard_whose_file_is_missing_or_is_no_json_is_refused_with_its_name(tmp_path: Path) -> None:
    text = """\
bundle: {name: story}
resources:
  dashboards: {d: {display_name: fitness, file_path: fitness.lvdash.json}}
targets: {dev: {}}
"""
    write_files(tmp_path, {"databricks.yml": text})
    missing = bundle(tmp_path, "deploy")
    assert missing.returncode == 2 and "fitness.lvdash.json" in missing.stderr
    write_files(tmp_path, {"fitness.lvdash.json": "{"})
    with served(tmp_path):
        damaged = bundle(tmp_path, "deploy")
    assert damaged.returncode != 0 and "Traceback" not in damaged.stderr
    assert "dashboard" in damaged.stderr and "JSON" in damaged.stderr


def test_what_a_deployment_would_refuse_is_not_sent(folder: Path) -> None:
    (folder / "src/hello.py").unlink()
    refused = bundle(folder, "deploy")
    assert (refused.returncode, "file-missing" in refused.stderr) == (2, True)
    assert not (folder / ".lakeward/dev/server").exists()


PACKAGES = """\
bundle: {name: packages}
targets: {dev: {}}
resources:
  jobs:
    j:
      name: j
      environments:
        - {environment_key: e, spec: {client: "2", dependencies: ["-r ./needs.txt", "./libs/*.whl"]}}
      tasks:
        - {task_key: a, environment_key: e, spark_python_task: {python_file: main.py}}
        - task_key: b
          existing_cluster_id: c
          libraries: [{requirements: ./needs.txt}, {whl: libs/extra-2-py3-none-any.whl}]
          spark_python_task: {python_file: main.py}
"""


@pytest.mark.slow
def test_packages_are_resolved_at_deployment_and_installed_for_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_folder_index(monkeypatch, tmp_path / "machine", {("tiny", "1.0"): ()})
    code = "import extra, tiny\nassert (extra.__version__, tiny.__version__) == ('2', '1.0')\n"
    root = write_files(
        tmp_path / "bundle", {"databricks.yml": PACKAGES, "main.py": code, "needs.txt": "absent==9\n"}
    )
    make_wheel(root / "libs", "extra", "2")
    refused = bundle(root, "deploy")
    assert refused.returncode == 2, refused.stdout
    assert "[DEPENDENCY_NOT_FOUND] The task `a` (environment `e`) requests" in refused.stderr
    assert "absent==9" in refused.stderr
    assert not (root / ".lakeward").exists()
    (root / "needs.txt").write_text("tiny==1.0\n")
    with served(root):
        deployed = bundle(root, "deploy")
        assert deployed.returncode == 0, deployed.stderr
        ran = bundle(root, "run", "j")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        (root / "needs.txt").unlink()
        shutil.rmtree(tmp_path / "machine" / "cache" / "layers")
        shutil.rmtree(tmp_path / "machine" / "wheels")
        lost = bundle(root, "run", "j")
        assert lost.returncode == 1
        assert "tiny==1.0" in lost.stdout + lost.stderr
