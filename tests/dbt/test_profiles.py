"""Profiles with the connection of the local workspace: the user's, and that of a warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lakeward.dbt import (
    UserProfile,
    connection_variables,
    find_profiles,
    warehouse_profile,
    write_profiles,
)
from lakeward.errors import ConfigurationError
from tests.trees import write_files

HOST, HTTP_PATH, TOKEN = (
    f"{{{{ env_var('{name}') }}}}" for name in ("DBT_HOST", "DBT_HTTP_PATH", "DBT_ACCESS_TOKEN")
)
SIGN_IN = {
    "a token": {"token": "dapi-of-the-platform"},
    "a variable": {"token": "{{ env_var('DATABRICKS_TOKEN') }}"},
    "a service principal": {"auth_type": "oauth", "client_id": "id", "client_secret": "secret"},
    "a browser": {"auth_type": "oauth", "oauth_redirect_url": "http://localhost:1", "oauth_scopes": ["sql"]},
    "Azure": {"azure_client_id": "id", "azure_client_secret": "secret"},
    "an address of its own": {"token": "t", "connection_parameters": {"_connection_uri": "https://real"}},
}


@pytest.fixture
def variables() -> dict[str, str]:
    return connection_variables(warehouse="0123", catalog="main", schema="default")


def profiles(**outputs: Any) -> dict[str, Any]:
    return {"shop": {"target": "dev", "outputs": outputs}, "another": {"outputs": {}}}


@pytest.mark.parametrize("way", SIGN_IN)
@pytest.mark.parametrize("target", [None, "dev", "prod"])
def test_each_output_for_databricks_has_the_connection_and_keeps_the_rest(
    variables: dict[str, str], way: str, target: str | None
) -> None:
    kept = {"type": "databricks", "schema": "{{ env_var('S') }}", "catalog": "c", "threads": 8}
    there = {"host": "adb-1.azuredatabricks.net", "http_path": "/sql/1.0/warehouses/f", **SIGN_IN[way]}
    profile = UserProfile(profiles(dev={**kept, **there}, prod={**kept, **there}), "shop", target)
    found = profile.connected(variables, {"S": "mine"})
    connected = {**kept, "host": HOST, "http_path": HTTP_PATH, "token": TOKEN}
    assert found == {"shop": {"target": "dev", "outputs": {"dev": connected, "prod": connected}}}


@pytest.mark.parametrize("given", [{}, profiles(), {"shop": None}, {"shop": {"target": "dev"}}, {"shop": []}])
@pytest.mark.parametrize("target", [None, "prod"])
def test_a_project_without_a_profile_has_the_one_of_a_warehouse(
    variables: dict[str, str], given: dict[str, Any], target: str | None
) -> None:
    name = "shop" if given != profiles() else "missing"
    found = UserProfile(given, name, target).connected(variables)[name]
    output = found["outputs"][found["target"]]
    assert found["target"] == (target or "local")
    assert (output["type"], output["host"]) == ("databricks", HOST)
    assert (output["catalog"], output["schema"]) == (
        "{{ env_var('DBT_CATALOG') }}", "{{ env_var('DBT_SCHEMA') }}",
    )  # fmt: skip


@pytest.mark.parametrize("given", [{}, profiles(dev={"type": "databricks", "database": "c", "schema": "s"})])
def test_names_of_the_command_line_replace_those_of_the_profile(
    variables: dict[str, str], given: dict[str, Any]
) -> None:
    replaced = {"catalog": "own", "schema": "mine"}
    profile = UserProfile(given, "shop", replaced=replaced)
    (output,) = profile.connected(variables)["shop"]["outputs"].values()
    assert profile.catalog() == "own"
    assert {field: output[field] for field in replaced} == replaced
    assert "database" not in output, "another name of the catalog"


@pytest.mark.parametrize(
    ("others", "advice"),
    [({}, "Add an output"), ({"lake": {"type": "databricks"}}, "--target lake")],
)
@pytest.mark.parametrize("kind", ["snowflake", "duckdb"])
def test_an_output_for_another_platform_is_refused_with_one_that_is_not(
    variables: dict[str, str], kind: str, others: dict[str, Any], advice: str
) -> None:
    given = profiles(dev={"type": kind}, **others)
    with pytest.raises(ConfigurationError) as caught:
        UserProfile(given, "shop").connected(variables)
    assert caught.value.condition == "DBT_PROFILE_NOT_SUPPORTED"
    assert f"`dev` of the profile `shop` is for {kind}" in caught.value.message
    assert advice in (caught.value.next_step or "")
    if others:
        outputs = UserProfile(given, "shop", "lake").connected(variables)["shop"]["outputs"]
        assert outputs["lake"]["host"] == HOST
        assert outputs["dev"] == {"type": kind}, "outputs that are not used stay as they are"


@pytest.mark.parametrize("field", ["catalog", "database"])
@pytest.mark.parametrize(
    ("stated", "catalog"),
    [
        ("sales", "sales"),
        ("{{ env_var('CATALOG') }}", "of_the_variable"),
        ('{{env_var("CATALOG", "main")}}', "of_the_variable"),
        ("{{ env_var('MISSING', 'main') }}", "main"),
        ("{{ env_var('MISSING') }}", None),
        ("{{ 'a' ~ 'b' }}", None),
        ("dev_{{ env_var('CATALOG') }}", "dev_of_the_variable"),
        ("dev_{{ env_var('MISSING') }}", None),
        ("{{- env_var('CATALOG') -}}_{{ env_var('MISSING', 'EU')|lower }}", "of_the_variable_eu"),
        ("{{ env_var('CATALOG') | as_text | upper }}", "OF_THE_VARIABLE"),
        ("{{ env_var('CATALOG') | replace('of', 'on') }}", None),
        ("{{ var('catalog') }}", "of_the_option"),
        ("{{ var('missing', 'main') }}", "main"),
        ("{{ var('missing') }}", None),
    ],
)
def test_the_catalog_of_a_profile(field: str, stated: str, catalog: str | None) -> None:
    given = profiles(dev={"type": "databricks", field: stated}, prod={"type": "databricks"})
    environ, options = {"CATALOG": "of_the_variable"}, {"catalog": "of_the_option"}
    assert UserProfile(given, "shop", given=options).catalog(environ) == catalog
    assert UserProfile(given, "shop", "prod").catalog(environ) is None
    assert UserProfile(given, "missing").catalog(environ) is None


@pytest.mark.parametrize(
    ("stated", "environ", "selected"),
    [
        ("{{ env_var('TARGET') }}", {"TARGET": "prod"}, "prod"),
        ("{{ env_var('TARGET', 'prod') }}", {}, "prod"),
        ("{{ env_var('TARGET') | lower }}", {"TARGET": "DEV"}, "dev"),
        ("{{ env_var('TARGET') }}", {}, "default"),
    ],
)
def test_variables_select_the_output(
    variables: dict[str, str],
    stated: str,
    environ: dict[str, str],
    selected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = {name: {"type": "databricks", "catalog": f"c_{name}"} for name in ("dev", "prod")}
    given = {"shop": {"target": stated, "outputs": {**outputs, "lake": {"type": "duckdb"}}}}
    known = {"dev": "c_dev", "prod": "c_prod"}
    assert UserProfile(given, "shop").catalog(environ) == known.get(selected)
    assert UserProfile(given, "shop", "dev").catalog(environ) == "c_dev"
    monkeypatch.setenv("TARGET", "lake")
    with pytest.raises(ConfigurationError, match="`lake`"):
        UserProfile({"shop": {**given["shop"], "target": "{{ env_var('TARGET') }}"}}, "shop").connected(
            variables
        )


def test_profiles_are_looked_for_where_dbt_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = ("option", "variable", "working", "project", "home/.dbt")
    write_files(tmp_path, {f"{place}/profiles.yml": f"of: {place}\n" for place in places})
    project, home = tmp_path / "project", tmp_path / "home"
    monkeypatch.chdir(tmp_path / "working")
    environ = {"DBT_PROFILES_DIR": str(tmp_path / "variable")}

    def found(given: str | None, environ: dict[str, str]) -> Any:
        return find_profiles(project, given, environ, home).get("of")

    assert found(str(tmp_path / "option"), environ) == "option"
    assert found(None, environ) == "variable"
    for place in ("working", "project", "home/.dbt"):
        assert found(None, {}) == place
        (tmp_path / place / "profiles.yml").unlink()
    assert found(None, {}) is None


def test_the_last_of_two_profiles_with_one_name_counts(tmp_path: Path) -> None:
    (tmp_path / "profiles.yml").write_text("shop: {target: a}\nshop: {target: b}\n")
    assert find_profiles(tmp_path, str(tmp_path), {}, tmp_path)["shop"] == {"target": "b"}


@pytest.mark.parametrize("content", [b"a: [", b"a: 1\n  b: 2\n", b"\xff\xfe\xff", b"a: *nothing\n"])
@pytest.mark.parametrize("place", ["option", "variable", "project"])
def test_profiles_that_cannot_be_read_are_named(tmp_path: Path, content: bytes, place: str) -> None:
    """Without its profile, a project would have names of its own, without a word."""
    (tmp_path / "profiles.yml").write_bytes(content)
    given = str(tmp_path) if place == "option" else None
    environ = {"DBT_PROFILES_DIR": str(tmp_path)} if place == "variable" else {}
    with pytest.raises(ConfigurationError) as caught:
        find_profiles(tmp_path if place == "project" else Path("none"), given, environ, tmp_path / "home")
    assert caught.value.condition == "DBT_PROFILE_INVALID"
    assert str(tmp_path / "profiles.yml") in caught.value.message


def test_what_is_written_is_what_dbt_reads(tmp_path: Path, variables: dict[str, str]) -> None:
    profile = warehouse_profile("shop", variables)
    write_profiles(tmp_path / "profiles", profile)
    assert YAML(typ="safe").load(tmp_path / "profiles/profiles.yml") == profile
    assert (tmp_path / "profiles").stat().st_mode & 0o777 == 0o700
