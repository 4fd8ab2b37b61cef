"""Objects without effect on the local Spark: kept as clients write them, and lists of what is never there."""

from __future__ import annotations

import base64
import itertools
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from lakeward.workspace.api.record_kind import RecordKind
from lakeward.workspace.api.records import KINDS
from lakeward.workspace.api.workspace_info import EMPTY_LISTS
from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")

CLIENT = "http/records"
# Their name is their id.
SECURABLES = [kind for kind in KINDS if kind.key == kind.unique]
UC = "/api/2.1/unity-catalog"
# kind: (path, whether its routes are verbs, body of a new record, another body)
CASES: dict[str, tuple[str, bool, dict[str, Any], dict[str, Any]]] = {
    "cluster_policy": (
        "/api/2.0/policies/clusters",
        True,
        {"name": "small", "definition": '{"num_workers": {"type": "fixed", "value": 1}}'},
        {"name": "smaller", "definition": "{}"},
    ),
    "instance_pool": (
        "/api/2.0/instance-pools",
        True,
        {
            "instance_pool_name": "pool",
            "node_type_id": "i3.xlarge",
            "custom_tags": {"a": "b"},
            "node_type_flexibility": {"alternate_node_type_ids": ["i3.2xlarge"]},
        },
        {"instance_pool_name": "other", "node_type_id": "i3.xlarge"},
    ),
    "git_credential": (
        "/api/2.0/git-credentials",
        False,
        {"git_provider": "gitHub", "git_username": "ada", "personal_access_token": "ghp_secret"},
        {"git_provider": "gitLab"},
    ),
    "ip_access_list": (
        "/api/2.0/ip-access-lists",
        False,
        {"label": "office", "list_type": "ALLOW", "ip_addresses": ["10.0.0.0/8", "::1"]},
        {"label": "home", "list_type": "BLOCK", "ip_addresses": [], "enabled": False},
    ),
    "global_init_script": (
        "/api/2.0/global-init-scripts",
        False,
        {"name": "hello", "script": base64.b64encode(b"echo hello").decode()},
        {"name": "bye", "script": "", "enabled": True},
    ),
    "storage_credential": (
        f"{UC}/storage-credentials",
        False,
        {
            "name": "lake",
            "aws_iam_role": {"role_arn": "arn:x"},
            "skip_validation": True,
            "cloudflare_api_token": {"secret_access_key": "hunter2hunter2"},
        },
        {"comment": "other"},
    ),
    "external_location": (
        f"{UC}/external-locations",
        False,
        {"name": "raw", "url": "s3://bucket/raw", "credential_name": "used"},
        {"comment": "other"},
    ),
    "connection": (
        f"{UC}/connections",
        False,
        {
            "name": "pg",
            "connection_type": "POSTGRESQL",
            "options": {"password": "hunter2hunter2"},
            "secrets": {"token": "hunter2hunter2"},
        },
        {"comment": "other"},
    ),
}
WRONG: dict[str, list[dict[str, Any]]] = {
    "cluster_policy": [{}, {"name": 1}, {"name": "x", "definition": "no"}, {"name": "x", "definition": "[]"}],
    "instance_pool": [{"instance_pool_name": "x"}, {"instance_pool_name": "x", "node_type_id": "/"}],
    "git_credential": [{}, {"git_provider": ["gitHub"]}, {"git_provider": "cvs"}],
    "ip_access_list": [
        {"label": "x"},
        {"label": "x", "list_type": "NO"},
        {"label": "x", "list_type": "ALLOW", "ip_addresses": ["x"]},
    ],
    "global_init_script": [
        {"name": "x"},
        {"name": "x", "script": "%%"},
        {"name": "x", "script": "aGVs\nbG8="},
    ],
    "storage_credential": [{}, {"name": "a/b"}],
    "external_location": [{"name": "x"}],
    "connection": [{"name": "x", "connection_type": "POSTGRESQL"}],
}


@pytest.fixture(scope="module", autouse=True)
def credential(server: Server) -> Iterator[None]:
    """The credential of external locations."""
    path = f"{UC}/storage-credentials"
    server.post(path, {"name": "used"})
    yield
    assert server.answer("DELETE", f"{path}/used").status_code == 200


def records(server: Server, kind: RecordKind) -> list[Any]:
    path, verbs, _, _ = CASES[kind.kind]
    listed = server.get(f"{path}/list" if verbs else path)[kind.items]
    return [each for each in listed if each.get("name") != "used"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_record_is_created_read_changed_and_deleted(server: Server, kind: RecordKind) -> None:
    path, verbs, body, other = CASES[kind.kind]
    made = server.post(f"{path}/create" if verbs else path, body)
    made = made.get(kind.wrapper, made)
    key = made[kind.key]
    shown = {name: value for name, value in body.items() if name not in kind.hidden}
    assert shown.items() <= made.items()
    assert not set(kind.hidden) & set(made)
    assert "hunter2" not in str(made)
    one = f"{path}/get?{kind.key}={key}" if verbs else f"{path}/{key}"
    found = server.get(one)
    assert found.get(kind.wrapper, found) == made and made in records(server, kind)
    if kind.unique:
        again = server.answer("POST", f"{path}/create" if verbs else path, body)
        assert again.json()["error_code"] == "RESOURCE_ALREADY_EXISTS"
    change = {**other, kind.key: key} if verbs else other
    changed = server.answer("POST" if verbs else "PATCH", f"{path}/edit" if verbs else one, change)
    assert changed.status_code == 200, changed.text
    found = server.get(one)
    assert other.items() <= found.get(kind.wrapper, found).items()
    if kind.kind == "ip_access_list":
        assert server.answer("PUT", one, body).json()[kind.wrapper]["label"] == "office"
    gone = server.answer(
        "POST" if verbs else "DELETE", f"{path}/delete" if verbs else one, {kind.key: key} if verbs else None
    )
    assert gone.status_code == 200
    assert server.answer("GET", one).status_code == 404 and not records(server, kind)


@pytest.mark.parametrize(
    ("kind", "body"),
    [(kind, body) for kind in KINDS for body in WRONG[kind.kind]],
    ids=lambda value: getattr(value, "kind", None),
)
def test_a_wrong_record_is_refused_and_not_kept(server: Server, kind: RecordKind, body: Any) -> None:
    path, verbs, _, _ = CASES[kind.kind]
    answer = server.answer("POST", f"{path}/create" if verbs else path, body)
    assert answer.status_code == 400
    assert answer.json()["error_code"] in ("INVALID_PARAMETER_VALUE", "MALFORMED_REQUEST")
    assert not records(server, kind)


@pytest.mark.parametrize("path", EMPTY_LISTS)
def test_what_is_never_there_is_an_empty_list(server: Server, path: str) -> None:
    found = server.get(path)
    assert any(value == [] for value in found.values())


def test_the_sdk_reads_all_lists(client: Any) -> None:
    lists = [
        client.alerts.list,
        client.apps.list,
        client.clusters.list,
        client.cluster_policies.list,
        client.connections.list,
        client.dashboards.list,
        client.external_locations.list,
        client.git_credentials.list,
        client.global_init_scripts.list,
        client.instance_pools.list,
        client.instance_profiles.list,
        client.ip_access_lists.list,
        client.lakeview.list,
        client.libraries.all_cluster_statuses,
        client.metastores.list,
        client.notification_destinations.list,
        client.policy_families.list,
        client.queries.list,
        client.recipients.list,
        client.registered_models.list,
        client.repos.list,
        client.serving_endpoints.list,
        client.storage_credentials.list,
        client.warehouses.list,
    ]
    for call in lists:
        list(itertools.islice(call(), 5))
    assert list(client.functions.list("main", "default")) == []
    assert client.clusters and list(client.libraries.cluster_status("lakeward-local")) == []


@pytest.mark.parametrize("kind", SECURABLES, ids=lambda kind: kind.kind)
def test_a_record_gets_another_name(server: Server, kind: RecordKind) -> None:
    path, _, body, other = CASES[kind.kind]
    server.post(path, body)
    old, name = body["name"], f"{body['name']}_Renamed"
    answer = server.answer("PATCH", f"{path}/{old}", {"new_name": name, **other})
    assert answer.status_code == 200 and answer.json()["name"] == name
    assert server.get(f"{path}/{name}").items() >= {"name": name, **other}.items()
    assert server.answer("GET", f"{path}/{old}").status_code == 404
    server.post(path, body)
    taken = server.answer("PATCH", f"{path}/{name}", {"new_name": old})
    assert taken.json()["error_code"] == "RESOURCE_ALREADY_EXISTS"
    for each in (old, name):
        assert server.answer("DELETE", f"{path}/{each}").status_code == 200


@pytest.mark.parametrize("kind", SECURABLES, ids=lambda kind: kind.kind)
def test_grants_follow_a_record_to_its_new_name_and_end_with_it(server: Server, kind: RecordKind) -> None:
    path, _, body, _ = CASES[kind.kind]
    grants = f"/api/2.1/unity-catalog/permissions/{kind.kind}"
    server.post(path, body)
    old, new = body["name"], f"{body['name']}_renamed"
    given = {"changes": [{"principal": "analysts", "add": ["MANAGE"]}]}
    held = server.answer("PATCH", f"{grants}/{old}", given).json()
    server.answer("PATCH", f"{path}/{old}", {"new_name": old.upper()})
    assert server.get(f"{grants}/{old}") == held
    server.answer("PATCH", f"{path}/{old}", {"new_name": new, "comment": "renamed"})
    assert server.get(f"{grants}/{new}") == server.get(f"{grants}/{new.upper()}") == held
    assert server.answer("GET", f"{grants}/{old}").status_code == 404
    for spelling in (new.upper(), f"{new}?force=true"):
        server.answer("DELETE", f"{path}/{spelling}")
        server.post(path, {**body, "name": new})
        assert server.get(f"{grants}/{new}") == {"privilege_assignments": []}
        server.answer("PATCH", f"{grants}/{new}", given)
    assert server.answer("DELETE", f"{path}/{new}").status_code == 200


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (kind, wrong)
        for kind in SECURABLES
        for wrong in ({"comment": 1}, {"new_name": 1}, {"new_name": "a/b"})
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_a_rename_that_is_refused_changes_nothing(
    server: Server, kind: RecordKind, wrong: dict[str, Any]
) -> None:
    path, _, body, _ = CASES[kind.kind]
    made = server.post(path, body)
    try:
        answer = server.answer("PATCH", f"{path}/{body['name']}", {"new_name": "renamed", **wrong})
        assert answer.status_code == 400, answer.text
        assert server.get(f"{path}/{body['name']}") == made
        assert server.answer("GET", f"{path}/renamed").status_code == 404
    finally:
        assert server.answer("DELETE", f"{path}/{body['name']}").status_code == 200


def test_a_location_needs_its_credential(client: Any) -> None:
    credentials, locations = client.storage_credentials, client.external_locations
    with pytest.raises(sdk.errors.NotFound, match="Storage credential 'own' does not exist"):
        locations.create("place", "s3://bucket/a", "own")
    credentials.create("own")
    locations.create("place", "s3://bucket/a", "Own")
    with pytest.raises(sdk.errors.NotFound):
        locations.update("place", credential_name="none")
    with pytest.raises(sdk.errors.BadRequest, match="is used by the external location 'place'"):
        credentials.delete("own")
    credentials.update("own", new_name="renamed")
    assert locations.get("place").credential_name == "renamed"
    credentials.delete("renamed", force=True)
    locations.delete("place")


def test_a_model_gets_another_name(client: Any) -> None:
    client.registered_models.create(name="old", catalog_name="main", schema_name="default")
    client.registered_models.create(name="taken", catalog_name="main", schema_name="default")
    with pytest.raises(sdk.errors.ResourceAlreadyExists):
        client.registered_models.update("main.default.old", new_name="taken")
    client.registered_models.update("main.default.old", new_name="new", comment="c")
    assert client.registered_models.get("main.default.new").comment == "c"
    for name in ("new", "taken"):
        client.registered_models.delete(f"main.default.{name}")
    assert not list(client.registered_models.list())


def test_the_sdk_parses_ip_access_lists(client: Any) -> None:
    """Their creator is a number: databricks-sdk fails at a name."""
    from databricks.sdk.service import settings

    made = client.ip_access_lists.create("office", settings.ListType.ALLOW, ip_addresses=["10.0.0.0/8"])
    [listed] = client.ip_access_lists.list()
    assert listed == made.ip_access_list and listed.address_count == 1
    assert str(listed.created_by) == client.current_user.me().id
    client.ip_access_lists.delete(listed.list_id)


def test_a_git_folder_is_a_folder_of_its_own_type(client: Any, server: Server) -> None:
    repo = client.repos.create(
        url="https://example.com/org/project.git", provider="GITHUB", path="/Repos/ada/project"
    )
    assert client.workspace.get_status("/Repos/ada/project").object_type.value == "REPO"
    assert [each.object_type.value for each in client.workspace.list("/Repos/ada")] == ["REPO"]
    client.repos.update(repo.id, branch="feature")
    assert client.repos.get(repo.id).branch == "feature"
    assert [each.id for each in client.repos.list(path_prefix="/Repos/ada")] == [repo.id]
    with pytest.raises(sdk.errors.ResourceAlreadyExists):
        client.repos.create(url="https://example.com/x", provider="gitHub", path="/Repos/ada/project")
    for body in (
        {"url": "https://x/y"},
        {"url": "x", "provider": "gitHub"},
        {"url": "https://x/y", "provider": "cvs"},
    ):
        assert server.answer("POST", "/api/2.0/repos", body).status_code == 400
    client.repos.delete(repo.id)
    with pytest.raises(sdk.errors.NotFound):
        client.workspace.get_status("/Repos/ada/project")
    made = server.post("/api/2.0/repos", {"url": "https://x.io/y.git", "provider": "gitHub"})
    assert made["path"].startswith("/Repos/") and server.get(f"/api/2.0/repos/{made['id']}") == made
    assert server.answer("PATCH", f"/api/2.0/repos/{made['id']}", {"tag": "v1"}).status_code == 200
    assert server.answer("DELETE", f"/api/2.0/repos/{made['id']}").status_code == 200
    assert server.get("/api/2.0/repos") == {"repos": []}
    server.post("/api/2.0/workspace/mkdirs", {"path": "/Shared/x"})
    assert server.get("/api/2.0/workspace/get-status?path=/Shared/x")["object_type"] == "DIRECTORY"
    assert server.get("/api/2.0/workspace/list?path=/Shared")["objects"]


@pytest.mark.parametrize("path", ["models", "functions"])
def test_models_and_functions_belong_to_a_schema(server: Server, path: str) -> None:
    root = f"{UC}/{path}"
    body: dict[str, Any] = {"catalog_name": "main", "schema_name": path, "name": "one"}
    wrapped = {"function_info": body} if path == "functions" else body
    assert server.answer("POST", root, wrapped).status_code == 404
    server.post(f"{UC}/schemas", {"catalog_name": "main", "name": path})
    made = server.post(root, wrapped)
    one = f"{root}/main.{path}.one"
    assert made["full_name"] == f"main.{path}.one" and server.get(one) == made
    assert server.answer("POST", root, wrapped).status_code == 400
    assert server.answer("PATCH", one, {"owner": "grace"}).json()["owner"] == "grace"
    listed = server.get(root, catalog_name="main", schema_name=path)
    assert [each["name"] for each in next(iter(listed.values()))] == ["one"]
    if path == "models":
        assert server.get(f"{one}/versions") == {"model_versions": []}
    assert server.answer("DELETE", one).status_code == 200
    assert server.answer("GET", one).status_code == 404


def test_the_metastore_and_the_settings(server: Server) -> None:
    metastore = server.get(f"{UC}/metastore_summary")["metastore_id"]
    assert server.get(f"{UC}/current-metastore-assignment")["metastore_id"] == metastore
    assert server.get(f"{UC}/metastores")["metastores"][0]["metastore_id"] == metastore
    path = "/api/2.0/workspace-conf"
    assert server.get(path, keys="a,b") == {"a": None, "b": None}
    assert server.answer("PATCH", path, {"a": "true"}).status_code == 200
    assert server.get(path, keys="a,b") == {"a": "true", "b": None}
    assert server.answer("PATCH", path, {"a": True}).status_code == 400
    assert server.get("/api/2.0/libraries/cluster-status?cluster_id=lakeward-local")["library_statuses"] == []


def test_the_name_of_a_scope_keeps_its_case(client: Any) -> None:
    client.secrets.create_scope("MyScope")
    assert "MyScope" in {each.name for each in client.secrets.list_scopes()}
    client.secrets.put_secret("myscope", "k", string_value="value-of-k")
    assert [each.key for each in client.secrets.list_secrets("MYSCOPE")] == ["k"]
    with pytest.raises(sdk.errors.ResourceAlreadyExists):
        client.secrets.create_scope("MYSCOPE")
    client.secrets.delete_scope("myScope")
    assert "MyScope" not in {each.name for each in client.secrets.list_scopes()}


@pytest.mark.parametrize(
    "path",
    [
        "/Repos/x/../..",
        "/Repos/x/../../Users",
        "/Repos/./.",
        "/Repos//x",
        "/Users/ada@example.com/..",
        "/Workspace/Repos/../Repos/x",
        "/Users/ada@example.com/existing",
        "/Users/ada@example.com/existing/",
    ],
)
def test_a_git_folder_is_no_folder_with_other_content(server: Server, path: str) -> None:
    """Deleting a git folder removes all that is in it: another one was the whole workspace."""
    server.post("/api/2.0/workspace/mkdirs", {"path": "/Users/ada@example.com/existing"})
    body = {"url": "https://x.io/y", "provider": "gitHub", "path": path}
    answer = server.answer("POST", "/api/2.0/repos", body)
    assert answer.status_code == 400, answer.text
    assert server.get("/api/2.0/repos") == {"repos": []}


def test_a_git_folder_of_an_earlier_version_takes_no_other_folder_along(server: Server) -> None:
    made = server.post(
        "/api/2.0/repos", {"url": "https://x.io/y", "provider": "gitHub", "path": "/Repos/a/b"}
    )
    with sqlite3.connect(server.state / "server" / "workspace.db") as database:
        (body,) = database.execute("SELECT body FROM documents WHERE kind = 'repo'").fetchone()
        wrong = body.replace(b'"/Repos/a/b"', b'"/Repos/a/../.."')
        database.execute("UPDATE documents SET body = ? WHERE kind = 'repo'", (wrong,))
    database.close()
    server.answer("DELETE", f"/api/2.0/repos/{made['id']}")
    assert server.connection()["token"] == server.token
    assert server.get("/api/2.0/repos") == {"repos": []}
