"""Names of volumes: Unity Catalog stores them in lower case and finds them in any case.

Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-names
"""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service.catalog import VolumeType  # noqa: E402

SPELLINGS = ["main.default.{}", "Main.Default.{}", "MAIN.default.{}"]
_numbers = count()


@pytest.fixture
def name() -> str:
    return f"Raw_{next(_numbers)}"


def _create(client: Any, name: str, spelling: str = "main.default.{}") -> Any:
    catalog, schema, own = spelling.format(name).split(".")
    return client.volumes.create(catalog, schema, own, VolumeType.MANAGED)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_volume_is_created_in_lower_case(client: Any, server: Server, name: str, spelling: str) -> None:
    made = _create(client, name, spelling)
    lower = f"main.default.{name.lower()}"
    assert (made.full_name, made.name, made.schema_name) == (lower, name.lower(), "default")
    assert made.storage_location == f"dbfs:/Volumes/main/default/{name.lower()}"
    assert (server.state / "volumes/main/default" / name.lower()).is_dir()
    for each in (name, name.lower(), name.upper()):
        assert client.volumes.read(spelling.format(each)).full_name == lower
        with pytest.raises(sdk.errors.ResourceAlreadyExists):
            _create(client, each, spelling)
    assert lower in [each.full_name for each in client.volumes.list("Main", "DEFAULT")]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_volume_gets_another_name_in_lower_case(client: Any, name: str, spelling: str) -> None:
    first = _create(client, name)
    named = client.volumes.update(spelling.format(name.upper()), new_name=f"New_{name}", comment="moved")
    assert (named.name, named.comment) == (f"new_{name.lower()}", "moved")
    same = client.volumes.update(f"main.default.new_{name}", new_name=f"NEW_{name}")
    assert (same.name, same.created_at) == (named.name, first.created_at)
    with pytest.raises(sdk.errors.NotFound):
        client.volumes.read(f"main.default.{name}")
    client.volumes.delete(spelling.format(f"NEW_{name}"))
    with pytest.raises(sdk.errors.NotFound):
        client.volumes.read(named.full_name)
