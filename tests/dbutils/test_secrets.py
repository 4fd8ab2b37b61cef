"""Secrets from the environment and from files."""

from __future__ import annotations

import stat

import pytest
from py4j.protocol import Py4JJavaError

from lakeward.dbutils import DBUtils, FileSecrets, known_secrets
from lakeward.errors import ConfigurationError
from lakeward.session import Settings


@pytest.fixture
def files(settings: Settings) -> FileSecrets:
    store = FileSecrets(settings.secrets)
    store.put("Warehouse", "api.token", b"from a file")
    return store


def test_a_secret_is_read_from_its_file_whatever_the_case_of_its_scope(
    dbutils: DBUtils, files: FileSecrets
) -> None:
    assert dbutils.secrets.get("warehouse", "api.token") == "from a file"
    assert dbutils.secrets.getBytes("WAREHOUSE", key="api.token") == b"from a file"
    assert [scope.getName() for scope in dbutils.secrets.listScopes()] == ["warehouse"]
    assert [each.key for each in dbutils.secrets.list("warehouse")] == ["api.token"]


def test_the_environment_comes_first(
    dbutils: DBUtils, files: FileSecrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEWARD_SECRET_WAREHOUSE_API_TOKEN", "from the environment")
    monkeypatch.setenv("LAKEWARD_SECRET_CI_PASSWORD", "p")
    assert dbutils.secrets.get("warehouse", "api.token") == "from the environment"
    assert dbutils.secrets.get("ci", "password") == "p"
    assert [each.key for each in dbutils.secrets.list("ci")] == ["password"]


def test_what_was_handed_out_is_known_for_redaction(dbutils: DBUtils, files: FileSecrets) -> None:
    files.put("warehouse", "unread", b"never asked for")
    files.put("warehouse", "empty", b"")
    dbutils.secrets.get("warehouse", "api.token")
    dbutils.secrets.get("warehouse", "empty")
    assert "from a file" in known_secrets()
    assert not {"never asked for", ""} & known_secrets()


def test_a_missing_secret_is_caught_as_on_databricks_and_says_where_to_put_it(
    dbutils: DBUtils, files: FileSecrets, settings: Settings
) -> None:
    with pytest.raises(Py4JJavaError) as raised:
        dbutils.secrets.get("warehouse", "nope")
    text = str(raised.value)
    assert "IllegalArgumentException: Secret does not exist with scope: warehouse and key: nope" in text
    assert "LAKEWARD_SECRET_WAREHOUSE_NOPE" in text
    assert str(settings.secrets / "warehouse" / "nope") in text
    with pytest.raises(Py4JJavaError, match="Scope other does not exist!"):
        dbutils.secrets.list("other")


def test_a_file_that_others_may_read_is_refused(
    dbutils: DBUtils, files: FileSecrets, settings: Settings
) -> None:
    file = settings.secrets / "warehouse" / "api.token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    with pytest.raises(ConfigurationError, match=rf"SECRET_FILE_EXPOSED.*chmod 600 {file}"):
        dbutils.secrets.get("warehouse", "api.token")


@pytest.mark.parametrize("name", ["..", ".", "a/b", "", "a" * 129, "ümlaut", "../warehouse"])
def test_a_name_that_databricks_refuses_reaches_no_file(
    dbutils: DBUtils, files: FileSecrets, name: str
) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a key"):
        dbutils.secrets.get("warehouse", name)
    with pytest.raises(ValueError, match="cannot be the name of a scope"):
        dbutils.secrets.list(name)


def test_scopes_and_secrets_can_be_made_and_forgotten(files: FileSecrets) -> None:
    assert files.create_scope("new") is True
    assert files.create_scope("NEW") is False
    assert files.delete("warehouse", "api.token") is True
    assert files.delete("warehouse", "api.token") is False
    assert files.delete_scope("warehouse") is True
    assert files.delete_scope("warehouse") is False
    assert files.scopes() == ["new"]
