"""SHOW USERS and SHOW GROUPS list the principals that the local workspace knows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from lakeward.principals import DATABASE, SERVER_FOLDER, read_principals
from lakeward.session import Settings
from lakeward.workspace.state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCUMENTS = {
    "scim_users": [{"id": "1", "userName": "Alf@melmak.et"}, {"id": "2", "userName": "willie@earth.org"}],
    "scim_serviceprincipals": [{"id": "3", "applicationId": "6a1f"}],
    "scim_groups": [
        {"id": "4", "displayName": "users", "members": []},
        {"id": "5", "displayName": "tv_alien", "members": [{"value": "1"}, {"value": "gone"}]},
        {"id": "6", "displayName": "alien", "members": [{"value": "5"}, {"value": "3"}]},
        {"id": "7", "displayName": "admins", "members": [{"value": "2"}]},
    ],
}
SHOWN = {
    "SHOW USERS": [["Alf@melmak.et"], ["{owner}"], ["willie@earth.org"]],
    "SHOW USERS LIKE '*EARTH*'": [["willie@earth.org"]],
    "SHOW USERS 'al*|wil*'": [["Alf@melmak.et"], ["willie@earth.org"]],
    "SHOW USERS LIKE 'earth'": [],
    "SHOW GROUPS": [["admins", None], ["alien", None], ["mine", None], ["tv_alien", None], ["users", None]],
    "SHOW GROUPS LIKE '*al*'": [["alien", None], ["tv_alien", None]],
    "SHOW GROUPS '*al*|a*'": [["admins", None], ["alien", None], ["tv_alien", None]],
    "SHOW GROUPS WITH USER `alf@melmak.et`": [["alien", False], ["tv_alien", True], ["users", True]],
    "SHOW GROUPS WITH USER `alf@melmak.et` LIKE 'tv*'": [["tv_alien", True]],
    "SHOW GROUPS WITH GROUP tv_alien": [["alien", True]],
    "SHOW GROUPS WITH USER `6a1f`": [["alien", True], ["users", True]],
    "SHOW GROUPS WITH USER `{owner}`": [["mine", True], ["users", True]],
    "SHOW GROUPS WITH GROUP missing": [],
}


@pytest.fixture
def known(suite_settings: Settings) -> Iterator[Settings]:
    """A workspace with these principals; that of an earlier test of the suite is put back."""
    folder = suite_settings.state / SERVER_FOLDER
    earlier = folder.with_name("server-of-earlier-tests")
    if folder.exists():
        folder.rename(earlier)
    store = Store(folder / DATABASE)
    for kind, documents in DOCUMENTS.items():
        for each in documents:
            store.put(kind, each["id"], each)
    yield suite_settings
    store.close()
    shutil.rmtree(folder)
    if earlier.exists():
        earlier.rename(folder)


@pytest.mark.parametrize("text", SHOWN)
def test_the_principals_of_the_workspace(
    spark: SparkSession, known: Settings, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("LAKEWARD_GROUPS", "mine")
    shown = spark.sql(text.format(owner=known.user))
    assert shown.columns == (["name"] if "USERS" in text else ["name", "directGroup"])
    expected = [[known.user if cell == "{owner}" else cell for cell in row] for row in SHOWN[text]]
    assert [list(row) for row in shown.collect()] == sorted(expected)


def test_the_owner_is_known_before_a_server_has_run(suite_settings: Settings) -> None:
    found = read_principals(suite_settings.state / "missing", "ada", ["mine"])
    assert found.users == ("ada",)
    assert found.memberships("ada") == {"users": True, "admins": True, "mine": True}


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0"])
def test_a_damaged_database_has_no_principals(known: Settings, content: bytes) -> None:
    folder = known.state / "damaged" / SERVER_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DATABASE).write_bytes(content)
    assert read_principals(folder.parent, "ada").users == ("ada",)
