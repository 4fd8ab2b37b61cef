"""Users, groups and service principals: databricks-sdk, and plain requests for what it does not send."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.principals import read_principals
from tests.workspace.server import USER, Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import iam  # noqa: E402

CLIENT = "http/scim"
PREFIXES = ("/api/2.0/preview/scim/v2", "/api/2.0/account/scim/v2")


def names(server: Server, path: str, **query: Any) -> list[str]:
    found = server.get(f"/api/2.0/preview/scim/v2/{path}", **query)["Resources"]
    return [each.get("userName") or each["displayName"] for each in found]


def test_the_owner_is_a_user_of_the_built_in_groups(client: Any) -> None:
    me = client.current_user.me()
    assert client.users.get(me.id).user_name == USER
    assert [each.user_name for each in client.users.list(filter=f'userName eq "{USER}"')] == [USER]
    admins = next(iter(client.groups.list(filter="displayName eq admins", attributes="id,members")))
    assert [each.value for each in admins.members] == [me.id]
    assert {each.display for each in me.groups} == {"users", "admins"}


def test_a_user_has_a_home_folder_and_groups(client: Any) -> None:
    user = client.users.create(user_name="Grace@example.com", display_name="Grace")
    assert client.workspace.get_status("/Users/Grace@example.com").object_type.value == "DIRECTORY"
    group = client.groups.create(display_name="data", members=[iam.ComplexValue(value=user.id)])
    assert client.groups.get(group.id).members == group.members
    assert {each.display for each in client.users.get(user.id).groups} == {"users", "data"}
    with pytest.raises(sdk.errors.ResourceConflict):
        client.users.create(user_name="grace@example.com")
    client.users.delete(user.id)
    assert client.groups.get(group.id).members in (None, [])
    with pytest.raises(sdk.errors.ResourceDoesNotExist):
        client.users.get(user.id)
    client.groups.delete(group.id)


def test_a_group_has_members_that_exist(client: Any) -> None:
    group = client.groups.create(display_name="strict")
    unknown = [iam.ComplexValue(value="999")]
    changes = (
        lambda: client.groups.create(display_name="other", members=unknown),
        lambda: client.groups.update(group.id, display_name="strict", members=unknown),
        lambda: client.groups.patch(
            group.id, operations=[iam.Patch(op=iam.PatchOp.ADD, value={"members": [{"value": "999"}]})]
        ),
    )
    for change in changes:
        with pytest.raises(sdk.errors.NotFound, match="with id 999 not found"):
            change()
    assert [each.display_name for each in client.groups.list(filter='displayName eq "other"')] == []
    assert not client.groups.get(group.id).members
    client.groups.delete(group.id)


def test_patches_change_lists_and_values(client: Any) -> None:
    first = client.service_principals.create(display_name="robot")
    second = client.service_principals.create(display_name="robot", application_id="robot-2")
    group = client.groups.create(display_name="robots")

    def patch(op: iam.PatchOp, path: str | None, value: Any = None) -> list[str]:
        client.groups.patch(group.id, operations=[iam.Patch(op=op, path=path, value=value)])
        return [each.value for each in client.groups.get(group.id).members or ()]

    members = [{"value": first.id}, {"value": second.id}]
    assert patch(iam.PatchOp.ADD, "members", members) == [first.id, second.id]
    assert patch(iam.PatchOp.REMOVE, f'members[value eq "{first.id}"]') == [second.id]
    assert patch(iam.PatchOp.ADD, None, {"members": [{"value": first.id}]}) == [second.id, first.id]
    assert patch(iam.PatchOp.REPLACE, "members", [{"value": first.id}]) == [first.id]
    assert patch(iam.PatchOp.REMOVE, "members") == []
    patch(iam.PatchOp.REPLACE, "displayName", "machines")
    assert client.groups.get(group.id).display_name == "machines"
    client.service_principals.patch(
        second.id, operations=[iam.Patch(op=iam.PatchOp.REPLACE, path="active", value=False)]
    )
    assert client.service_principals.get(second.id).active in (False, None)


def test_filters_select_resources(server: Server) -> None:
    for name in ("ann@x.io", "bob@x.io", "bo@y.io"):
        server.post("/api/2.0/preview/scim/v2/Users", {"userName": name, "displayName": name[:2].upper()})
    cases = {
        'userName eq "ANN@x.io"': ["ann@x.io"],
        "userName co x.io and not (userName sw ann)": ["bob@x.io"],
        'userName ew "y.io" or displayName eq "AN"': ["ann@x.io", "bo@y.io"],
        'emails.value eq "bob@x.io"': ["bob@x.io"],
        'emails.value sw "bo" and active eq true': ["bob@x.io", "bo@y.io"],
        "externalId pr": [],
        "userName eq 'ann@x.io'": ["ann@x.io"],
        "(displayName eq 'AN' or userName eq 'bo@y.io')": ["ann@x.io", "bo@y.io"],
        "displayName eq 'A B'": [],
        "displayName eq 'A\" B'": [],
        "displayName eq O'Brien": [],
    }
    assert {each: names(server, "Users", filter=each) for each in cases} == cases
    assert names(server, "Users", filter="userName co .io", startIndex=2, count=1) == ["bob@x.io"]
    wanted = {"filter": "userName co .io", "sortBy": "userName", "sortOrder": "descending"}
    assert names(server, "Users", **wanted) == ["bob@x.io", "bo@y.io", "ann@x.io"]
    page = server.get("/api/2.0/preview/scim/v2/Users", count=1, attributes="userName")
    assert page["totalResults"] >= 4 and set(page["Resources"][0]) == {"schemas", "id", "userName"}


@pytest.mark.parametrize("text", ["x", "a b c", "a eq", "(a eq b", 'a eq "b', "a eq b)", "not", '[ eq "b"'])
def test_a_wrong_filter_is_refused(server: Server, text: str) -> None:
    for path in ("Users", "Groups", "ServicePrincipals"):
        answer = server.answer("GET", f"/api/2.0/preview/scim/v2/{path}", params={"filter": text})
        assert (answer.status_code, answer.json()["error_code"]) == (400, "INVALID_PARAMETER_VALUE")


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    ("path", "naming"),
    [("Users", "userName"), ("Groups", "displayName"), ("ServicePrincipals", "applicationId")],
)
def test_each_resource_has_all_operations(server: Server, prefix: str, path: str, naming: str) -> None:
    root = f"{prefix}/{path}"
    made = server.post(root, {naming: f"{path}{len(prefix)}"})
    one = f"{root}/{made['id']}"
    assert server.get(one)[naming] == f"{path}{len(prefix)}"
    assert made["id"] in {each["id"] for each in server.get(root)["Resources"]}
    changed = server.answer("PUT", one, {**made, "externalId": "e"})
    assert (changed.status_code, changed.json()["externalId"]) == (200, "e")
    patched = server.answer("PATCH", one, {"Operations": [{"op": "remove", "path": "externalId"}]})
    assert patched.status_code == 200 and "externalId" not in patched.json()
    assert server.answer("POST", root, {naming: made[naming]}).status_code == 409
    assert server.answer("DELETE", one).status_code == 200
    assert server.answer("GET", one).status_code == 404


BAD: list[tuple[str, str, Any]] = [
    ("POST", "Users", {}),
    ("POST", "Users", {"userName": "../x"}),
    ("POST", "Users", {"userName": 1}),
    ("POST", "Users", {"userName": "z@x.io", "emails": ["z"]}),
    ("POST", "Groups", {"displayName": "g", "members": {}}),
    ("PATCH", "Groups/{admins}", {"Operations": "no"}),
    ("PATCH", "Groups/{admins}", {"Operations": [{"op": "invent", "path": "members"}]}),
    ("PATCH", "Groups/{admins}", {"Operations": [{"op": "remove"}]}),
    ("PATCH", "Groups/{admins}", {"Operations": [{"op": "replace", "path": "displayName", "value": "x"}]}),
    ("PATCH", "Groups/{admins}", {"Operations": [{"op": "add", "path": "[", "value": "x"}]}),
    ("DELETE", "Groups/{admins}", None),
    ("DELETE", "Users/{me}", None),
]


@pytest.mark.parametrize(("method", "path", "body"), BAD)
def test_wrong_requests_are_refused(server: Server, method: str, path: str, body: Any) -> None:
    me = server.get("/api/2.0/preview/scim/v2/Me")
    admins = next(each["value"] for each in me["groups"] if each["display"] == "admins")
    answer = server.answer(
        method, "/api/2.0/preview/scim/v2/" + path.format(me=me["id"], admins=admins), body
    )
    assert answer.status_code == 400
    assert answer.json()["error_code"] in ("INVALID_PARAMETER_VALUE", "MALFORMED_REQUEST")


def test_only_administrators_change_principals(server: Server) -> None:
    token = server.post(
        "/api/2.0/token-management/on-behalf-of/tokens",
        {"application_id": "robot", "lifetime_seconds": 86400},
    )["token_value"]
    answer = server.answer("POST", "/api/2.0/preview/scim/v2/Users", {"userName": "e@x.io"}, token=token)
    assert answer.status_code == 403
    assert server.answer("GET", "/api/2.0/preview/scim/v2/Users", token=token).status_code == 200


def test_sql_reads_the_principals_of_the_workspace(client: Any, server: Server) -> None:
    user = client.users.create(user_name="Sql@example.com")
    inner = client.groups.create(display_name="inner", members=[iam.ComplexValue(value=user.id)])
    client.groups.create(display_name="outer", members=[iam.ComplexValue(value=inner.id)])
    found = read_principals(server.state, USER)
    assert {USER, "Sql@example.com"} <= set(found.users)
    assert found.memberships("sql@example.com") == {"users": True, "inner": True, "outer": False}
    assert "admins" in found.memberships(USER)
