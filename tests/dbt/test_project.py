"""What a project declares: where it is, its profile, and the packages that run it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from lakeward.dbt import DbtProject, declared_catalogs, find_project
from tests.trees import write_files


@pytest.mark.parametrize(
    ("text", "profile"),
    [
        ("name: shop\nprofile: shop_profile\n", "shop_profile"),
        ("name: shop\n", "shop"),
        ("profile: [\n", "databricks"),
        ("- a\n", "databricks"),
    ],
)
@pytest.mark.parametrize("below", ["", "models/staging"])
def test_the_project_of_a_folder_is_in_it_or_above(
    tmp_path: Path, text: str, profile: str, below: str
) -> None:
    (tmp_path / "dbt_project.yml").write_text(text)
    (tmp_path / below).mkdir(parents=True, exist_ok=True)
    found = find_project(tmp_path / below)
    assert found is not None
    assert (found.folder, found.profile) == (tmp_path, profile)


def test_a_folder_without_a_project(tmp_path: Path) -> None:
    assert find_project(tmp_path) is None


@pytest.mark.parametrize(
    ("required", "declared", "allowed", "excluded", "relaxed"),
    [
        (None, (), "1.11.0", "1.12.0", ()),
        (">=1.10.0", (), "1.11.0", "1.12.0", ()),
        ([">=1.0.0", "<1.11.0"], (), "1.10.5", "1.11.0", ()),
        ("not a version", (), "1.11.0", "1.12.0", ()),
        (3, (), "1.11.0", "1.12.0", ()),
        (None, ("dbt-core~=1.10.2",), "1.10.9", "1.11.0", ()),
        (None, ("dbt_core==1.10.2",), "1.10.2", "1.10.3", ()),
        (None, ("dbt-core>=1.8",), "1.11.0", "1.12.0", ()),
        (None, ("dbt-core==1.7.4",), "1.11.0", "1.12.0", ("dbt-core==1.7.4",)),
    ],
)
def test_the_versions_of_dbt(
    required: object, declared: tuple[str, ...], allowed: str, excluded: str, relaxed: tuple[str, ...]
) -> None:
    content = {} if required is None else {"require-dbt-version": required}
    lines, found = DbtProject(Path(), content).requirements(declared)
    assert list(lines) == ["dbt-databricks", "dbt-core"]
    versions = Requirement(lines["dbt-core"]).specifier
    assert versions.contains(allowed)
    assert not versions.contains(excluded)
    assert found == relaxed


def test_the_adapter_has_the_version_that_the_repository_declares() -> None:
    lines, relaxed = DbtProject(Path(), {}).requirements(["dbt-databricks==1.10.4"])
    assert Requirement(lines["dbt-databricks"]).specifier.contains("1.10.4")
    assert not Requirement(lines["dbt-databricks"]).specifier.contains("1.10.5")
    assert relaxed == ()


def test_the_catalogs_of_a_project_are_those_of_its_resources() -> None:
    content = {
        "models": {"shop": {"+database": "a", "staging": {"+catalog": "b"}, "gold": {"database": "a"}}},
        "seeds": {"+database": "c", "+schema": "no"},
        "snapshots": {"shop": {"+database": "{{ target.database }}"}},
        "vars": {"database": "no"},
        "data_tests": [],
    }
    assert declared_catalogs(DbtProject(Path(), content)) == ("a", "b", "c")
    assert declared_catalogs(DbtProject(Path(), {"models": []})) == ()


@pytest.mark.parametrize("field", ["+database", "+catalog"])
@pytest.mark.parametrize(
    ("stated", "given", "catalog"),
    [
        ("{{ var('catalog', 'main') }}", {}, "main"),
        ("{{ var('catalog', 'main') }}", {"catalog": "own"}, "own"),
        ("{{ var('catalog') }}", {"catalog": "own"}, "own"),
        ("{{ var('catalog') }}", {}, None),
        ("dev_{{ env_var('LAYER') | lower }}", {}, "dev_gold"),
        ("{{ env_var('LAYER_2', 'silver') }}_{{ var('region', 'eu') }}", {"region": 1}, "silver_1"),
        ("{{ target.catalog }}", {}, None),
    ],
)
def test_catalogs_have_variables_in_their_names(
    field: str, stated: str, given: dict[str, Any], catalog: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYER", "GOLD")
    found = declared_catalogs(DbtProject(Path(), {"models": {"shop": {field: stated}}}), given)
    assert found == ((catalog,) if catalog else ())


@pytest.mark.parametrize("key", ["vars", "profile", "models"])
@pytest.mark.parametrize("value", ["{a: 1}", "later"])
def test_keys_that_come_twice_have_their_last_value(tmp_path: Path, key: str, value: str) -> None:
    """dbt reads such files with a warning; the profile got another name without it."""
    text = f"name: shop\n{key}: first\nprofile: mine\n{key}: {value}\n"
    (tmp_path / "dbt_project.yml").write_text(text)
    project = DbtProject.of(tmp_path)
    assert project.content[key] == ({"a": 1} if value.startswith("{") else value)
    if key != "profile":
        assert project.profile == "mine"


def test_the_profile_has_a_variable_for_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    project = DbtProject(Path(), {"profile": "{{ env_var('MY_PROFILE', 'shop') }}"})
    assert project.profile == "shop"
    monkeypatch.setenv("MY_PROFILE", "mine")
    assert project.profile == "mine"


@pytest.mark.parametrize("field", ["database", "catalog", "target_database"])
@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("models/a/schema.yml", "models: [{name: m, config: {FIELD: gold, schema: no}}]"),
        ("seeds/p.yaml", "seeds: [{name: s, config: {FIELD: 'gold'}}]"),
        ("snapshots/s.yml", "snapshots: [{name: s, relation: ref('m'), config: {FIELD: gold}}]"),
        ("models/m.sql", "{{ config(materialized='table', FIELD='gold') }} select 'catalog' = 'no'"),
        ("models/m.sql", '{{ config({"tags": (1), "FIELD" : "gold"}) }}'),
        ("models/m.sql", "{{ config(FIELD=var('catalog', 'gold')) }}"),
        ("models/m.sql", "{{\n  config(FIELD = env_var('MISSING', 'GOLD') | lower)\n}}"),
        ("models/m.py", "def model(dbt, session):\n    dbt.config(FIELD='gold')\n"),
        ("snapshots/s.sql", "{% snapshot s %}{{ config(FIELD='gold') }}{% endsnapshot %}"),
        ("other/m.sql", "{{ config(FIELD='gold') }}"),
    ],
)
def test_catalogs_in_the_files_of_a_project(tmp_path: Path, field: str, file: str, content: str) -> None:
    write_files(tmp_path, {file: content.replace("FIELD", field), "models/broken.yml": "a: ["})
    paths = {"model-paths": ["models", "other"]} if file.startswith("other") else {}
    assert declared_catalogs(DbtProject(tmp_path, paths)) == ("gold",)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("models/m.sql", "{{ config(catalog=target.catalog) }} select * from t where config = 1"),
        ("models/m.sql", "select * from x where database = 'no'"),
        ("models/m.sql", "{{ config(catalog=var('catalog')) }}"),
        ("models/m.yml", "sources: [{name: s, catalog: no, tables: []}]"),
        ("models/m.yml", "- a\n- b"),
        ("macros/m.sql", "{{ config(catalog='no') }}"),
    ],
)
def test_other_names_are_no_catalogs_of_the_project(tmp_path: Path, file: str, content: str) -> None:
    write_files(tmp_path, {file: content})
    assert declared_catalogs(DbtProject(tmp_path, {})) == ()
