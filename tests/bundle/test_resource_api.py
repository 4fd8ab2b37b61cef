"""What a deployment takes over, and what it refuses, where a resource exists already."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.bundle.deployment.resource_api import KINDS
from lakeward.errors import BundleError


class Existing:
    """A workspace in which everything exists."""

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        raise FileExistsError(f"{path} exists")

    def upload(self, path: str, content: bytes) -> None:
        raise AssertionError(path)

    def download(self, path: str) -> bytes:
        raise AssertionError(path)


@pytest.mark.parametrize(
    ("name", "body", "identifier"),
    [
        ("secret_scopes", {"scope": "keys"}, "keys"),
        ("schemas", {"catalog_name": "main", "name": "shop"}, "main.shop"),
        ("volumes", {"catalog_name": "main", "schema_name": "shop", "name": "landing"}, "main.shop.landing"),
    ],
)
def test_what_a_local_run_has_made_is_taken_over(name: str, body: dict[str, str], identifier: str) -> None:
    (kind,) = [each for each in KINDS if each.name == name]
    assert kind.create_resource(Existing(), body) == identifier


@pytest.mark.parametrize("name", ["jobs", "pipelines", "catalogs"])
def test_other_resources_that_exist_are_refused(name: str) -> None:
    (kind,) = [each for each in KINDS if each.name == name]
    with pytest.raises(BundleError) as caught:
        kind.create_resource(Existing(), {"name": "x"})
    assert caught.value.condition == "RESOURCE_EXISTS"


class Empty(Existing):
    """A workspace in which nothing exists."""

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        raise LookupError("Schema 'main.shop' does not exist.")


def test_a_resource_in_a_schema_that_does_not_exist_is_refused() -> None:
    (kind,) = [each for each in KINDS if each.name == "volumes"]
    with pytest.raises(BundleError) as caught:
        kind.create_resource(Empty(), {"catalog_name": "main", "schema_name": "shop", "name": "landing"})
    assert caught.value.condition == "PARENT_NOT_FOUND"
    assert "main.shop" in str(caught.value)
