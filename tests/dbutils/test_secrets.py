"""Secrets from the environment and from files."""

from __future__ import annotations

import stat
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

from lakeward.dbutils import (
    DBUtils,
    FileSecrets,
    known_secrets,
    redact,
    redact_output,
    spark_conf_with_secrets,
    with_secrets,
)
from lakeward.dbutils.secret_encryption import secret_key
from lakeward.errors import ConfigurationError
from lakeward.jobs.attempts import attempt_error
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
    files.put("warehouse", "unread", b"never read")
    files.put("warehouse", "empty", b"")
    dbutils.secrets.get("warehouse", "api.token")
    dbutils.secrets.get("warehouse", "empty")
    assert "from a file" in known_secrets()
    assert not {"never read", ""} & known_secrets()


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


def test_a_secret_is_encrypted_on_the_disk_and_one_that_a_person_wrote_is_taken_as_it_is(
    dbutils: DBUtils, files: FileSecrets, settings: Settings
) -> None:
    kept = (settings.secrets / "warehouse" / "api.token").read_bytes()
    assert b"from a file" not in kept
    by_hand = settings.secrets / "warehouse" / "by-hand"
    by_hand.write_bytes(b"written")
    by_hand.chmod(0o600)
    assert dbutils.secrets.get("warehouse", "by-hand") == "written"


def test_another_key_or_a_damaged_file_is_reported_as_such(
    files: FileSecrets, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAKEWARD_SECRET_KEY_FILE", str(tmp_path / "other" / "key"))
    with pytest.raises(ConfigurationError, match=r"SECRET_KEY_WRONG.*warehouse/api.token"):
        files.get("warehouse", "api.token")
    assert stat.S_IMODE((tmp_path / "other" / "key").stat().st_mode) == 0o600
    (tmp_path / "other" / "key").chmod(0o644)
    with pytest.raises(ConfigurationError, match="SECRET_KEY_EXPOSED"):
        files.put("warehouse", "more", b"x")


def test_the_key_is_in_the_keyring_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept: dict[tuple[str, str], str] = {}
    ring = types.ModuleType("keyring")
    ring.get_keyring = lambda: types.SimpleNamespace(priority=5)  # type: ignore[attr-defined]
    ring.get_password = lambda *at: kept.get(at)  # type: ignore[attr-defined]
    ring.set_password = lambda service, name, value: kept.update({(service, name): value})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert secret_key(environ) == secret_key(environ) == kept["lakeward", "secrets"].encode()
    assert not any(tmp_path.iterdir())
    ring.get_keyring = lambda: types.SimpleNamespace(priority=0)  # type: ignore[attr-defined]
    in_file = secret_key(environ)
    ring.get_keyring = lambda: types.SimpleNamespace(priority=5)  # type: ignore[attr-defined]
    assert secret_key(environ) == in_file == (tmp_path / "lakeward" / "secrets.key").read_bytes()


def test_a_keyring_that_does_not_open_is_reported_and_no_other_key_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def locked(*_: object) -> str:
        raise RuntimeError("Prompt dismissed")

    ring = types.ModuleType("keyring")
    ring.get_keyring = lambda: types.SimpleNamespace(priority=5)  # type: ignore[attr-defined]
    ring.get_password = locked  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    with pytest.raises(ConfigurationError, match="Prompt dismissed") as caught:
        secret_key({"XDG_CONFIG_HOME": str(tmp_path)})
    assert caught.value.condition == "SECRET_KEYRING_LOCKED"
    assert "LAKEWARD_SECRET_KEY_FILE" in str(caught.value)
    assert not any(tmp_path.iterdir())


def test_keys_that_begin_with_a_dot_are_keys_like_others(files: FileSecrets) -> None:
    files.put("warehouse", ".hidden", b"dot")
    files.set_acls("warehouse", {"ada": "MANAGE"})
    assert files.keys("warehouse") == [".hidden", "api.token"]
    assert files.get("warehouse", ".hidden") == b"dot"
    files.delete("warehouse", ".hidden")
    assert files.acls("warehouse") == {"ada": "MANAGE"}


def test_a_full_disk_keeps_the_old_secret_and_leaves_nothing_behind(
    full_disk: Callable[[int], Path],
) -> None:
    store = FileSecrets(full_disk(64 * 1024) / "secrets")
    store.put("s", "k", b"old")
    with pytest.raises(OSError, match="No space left"):
        store.put("s", "k", b"n" * 200_000)
    assert store.get("s", "k") == b"old"
    assert [file.name for file in (store.folder / "s").iterdir()] == ["k"]


def test_secrets_are_redacted_in_text_line_by_line() -> None:
    secrets = ["s3cret", "s3cret-and-more", "-----BEGIN\nabcdef\n-----END", ""]
    assert redact("x=s3cret-and-more y=s3cret", secrets) == "x=[REDACTED] y=[REDACTED]"
    assert redact("> abcdef", secrets) == "> [REDACTED]"


def test_a_reference_to_a_secret_is_a_whole_value(dbutils: DBUtils, files: FileSecrets) -> None:
    store = dbutils.secrets._environment().secrets
    values = {"a": "{{secrets/warehouse/api.token}}", "b": "x{{secrets/warehouse/api.token}}"}
    assert with_secrets(values, store) == {"a": "from a file", "b": "x{{secrets/warehouse/api.token}}"}
    with pytest.raises(ConfigurationError, match=r"SECRET_NOT_FOUND\] a is the secret warehouse/nope"):
        with_secrets({"a": "{{secrets/warehouse/nope}}"}, store)


def test_spark_redacts_the_settings_that_are_secrets(dbutils: DBUtils, files: FileSecrets) -> None:
    store = dbutils.secrets._environment().secrets
    reference = "{{secrets/warehouse/api.token}}"
    conf = spark_conf_with_secrets(
        {"spark.my.pin": reference, "spark.hadoop.fs.k": reference, "a": "b"}, store
    )
    regex = "(?i)secret|password|token|access[.]?key|" + r"fs\.k|spark\.my\.pin"
    assert conf == {
        "spark.my.pin": "from a file",
        "spark.hadoop.fs.k": "from a file",
        "a": "b",
        "spark.redaction.regex": regex,
    }
    own = spark_conf_with_secrets({"spark.redaction.regex": "mine", "spark.pin": reference}, store)
    assert own["spark.redaction.regex"] == r"mine|spark\.pin"
    assert spark_conf_with_secrets({"a": "b"}, store) == {"a": "b"}


def test_an_error_that_shows_a_secret_shows_none(
    dbutils: DBUtils, files: FileSecrets, tmp_path: Path
) -> None:
    token = dbutils.secrets.get("warehouse", "api.token")
    assert attempt_error(RuntimeError(f"login with {token} refused"), tmp_path).startswith(
        "RuntimeError: login with [REDACTED] refused"
    )


def test_what_is_printed_in_a_redacting_block_shows_no_secret(
    dbutils: DBUtils, files: FileSecrets, capfd: pytest.CaptureFixture[str]
) -> None:
    token = dbutils.secrets.get("warehouse", "api.token")
    with redact_output():
        print("token:", token)
        sys.stderr.writelines([f"{token}\n", "other\n"])
        assert sys.stdout.encoding
    print(token)
    assert capfd.readouterr() == ("token: [REDACTED]\nfrom a file\n", "[REDACTED]\nother\n")
