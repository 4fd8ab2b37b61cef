"""Libraries of clusters: managed by the official client, imported by commands and tasks.

Source: https://docs.databricks.com/api/workspace/libraries
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.environments.conftest import make_wheel
from tests.workspace.server import Server, until

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import compute  # noqa: E402

CLIENT = "sdk/libraries"
PYTHON = compute.Language.PYTHON


@pytest.fixture
def cluster(client: Any) -> str:
    made = client.clusters.create(cluster_name="l", spark_version="15.4.x-scala2.12", num_workers=0)
    return str(made.response.cluster_id)


@pytest.fixture
def wheel(server: Server) -> str:
    """A wheel in the workspace."""
    folder = server.state / "workspace" / "Shared"
    folder.mkdir(parents=True, exist_ok=True)
    file = make_wheel(folder, "oflib", "1.0")
    return f"/Workspace/Shared/{Path(file).name}"


def statuses(client: Any, cluster: str) -> dict[str, str]:
    found = client.libraries.cluster_status(cluster)
    return {str(next(iter(each.library.as_dict()))): each.status.value for each in found}


def settled(client: Any, cluster: str) -> dict[str, str]:
    def done() -> dict[str, str] | None:
        found = statuses(client, cluster)
        return found if not {"PENDING", "INSTALLING"} & set(found.values()) else None

    found: dict[str, str] = until(done, 60)
    return found


def imported(client: Any, cluster: str) -> str:
    context = client.command_execution.create_and_wait(cluster_id=cluster, language=PYTHON)
    text = "import importlib.util as u\nprint(u.find_spec('oflib') is not None)"
    done = client.command_execution.execute_and_wait(
        cluster_id=cluster, context_id=context.id, language=PYTHON, command=text
    )
    client.command_execution.destroy(cluster, context.id)
    return str(done.results.data)


@pytest.mark.process
def test_a_wheel_is_there_until_the_cluster_restarts_without_it(
    client: Any, cluster: str, wheel: str
) -> None:
    assert imported(client, cluster) == "False"
    library = compute.Library(whl=wheel)
    client.libraries.install(cluster, [library])
    assert settled(client, cluster) == {"whl": "INSTALLED"}
    client.libraries.install(cluster, [library])
    assert settled(client, cluster) == {"whl": "INSTALLED"}
    assert imported(client, cluster) == "True"
    assert cluster in [each.cluster_id for each in client.libraries.all_cluster_statuses()]
    client.libraries.uninstall(cluster, [library])
    assert statuses(client, cluster) == {"whl": "UNINSTALL_ON_RESTART"}
    assert imported(client, cluster) == "True"
    client.clusters.restart(cluster)
    assert statuses(client, cluster) == {}
    assert imported(client, cluster) == "False"


def test_a_terminated_cluster_installs_when_it_starts(client: Any, cluster: str, wheel: str) -> None:
    client.clusters.delete(cluster)
    client.libraries.install(cluster, [compute.Library(whl=wheel)])
    assert statuses(client, cluster) == {"whl": "PENDING"}
    client.clusters.start(cluster)
    assert settled(client, cluster) == {"whl": "INSTALLED"}
    client.clusters.delete(cluster)
    client.libraries.uninstall(cluster, [compute.Library(whl=wheel)])
    assert statuses(client, cluster) == {}
    client.libraries.install(cluster, [compute.Library(whl=wheel)])
    client.clusters.permanent_delete(cluster)
    assert cluster not in [each.cluster_id for each in client.libraries.all_cluster_statuses()]


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        (compute.Library(jar="/Volumes/main/default/v/a.jar"), "JVM"),
        (compute.Library(maven=compute.MavenLibrary(coordinates="a:b:1")), "spark.jars.packages"),
        (compute.Library(cran=compute.RCranLibrary(package="ada")), "R is not"),
        (compute.Library(egg="dbfs:/a.egg"), "wheel"),
        (compute.Library(whl="/Workspace/Shared/none-1.0-py3-none-any.whl"), "none-1.0"),
        (compute.Library(requirements="/Workspace/Shared/none.txt"), "none.txt"),
    ],
)
def test_what_cannot_be_installed_fails_with_the_reason(
    client: Any, cluster: str, library: Any, reason: str
) -> None:
    client.libraries.install(cluster, [library])
    assert set(settled(client, cluster).values()) == {"FAILED"}
    (found,) = client.libraries.cluster_status(cluster)
    assert reason in " ".join(found.messages)
    client.libraries.uninstall(cluster, [library])
    assert statuses(client, cluster) == {}


@pytest.mark.parametrize("libraries", [[{}], [{"whl": "a", "jar": "b"}], [{"other": "x"}], [{"whl": ""}]])
def test_a_library_has_one_kind(server: Server, libraries: Any) -> None:
    body = {"cluster_id": "lakeward-local", "libraries": libraries}
    for name in ("install", "uninstall"):
        answer = server.answer("POST", f"/api/2.0/libraries/{name}", body)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "INVALID_PARAMETER_VALUE"), (
            answer.text
        )


def test_a_cluster_has_to_exist(client: Any) -> None:
    for request in (
        lambda: client.libraries.install("none", []),
        lambda: list(client.libraries.cluster_status("none")),
    ):
        with pytest.raises(sdk.errors.DatabricksError):
            request()


@pytest.mark.process
def test_a_task_on_the_cluster_has_its_libraries(
    client: Any, server: Server, cluster: str, wheel: str
) -> None:
    client.libraries.install(cluster, [compute.Library(whl=wheel)])
    assert settled(client, cluster) == {"whl": "INSTALLED"}
    job = server.job(a={"code": "import oflib\n", "existing_cluster_id": cluster})
    run = client.jobs.run_now(job).result()
    assert run.state.result_state.value == "SUCCESS", client.jobs.get_run_output(run.tasks[0].run_id).error
