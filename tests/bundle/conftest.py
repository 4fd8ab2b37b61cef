from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.trees import write_files

from lakeward.bundle import Bundle, load
from lakeward.errors import BundleError


@pytest.fixture
def bundle_of(tmp_path: Path) -> Callable[..., Bundle]:
    """Write a bundle of the given files (the first is databricks.yml) and load it."""

    def make(
        root_file: str,
        *,
        files: Mapping[str, str] = {},
        target: str | None = None,
        var: Mapping[str, str] = {},
        environ: Mapping[str, str] = {},
        user: str = "Ann.Lee@example.com",
    ) -> Bundle:
        write_files(tmp_path, {"databricks.yml": root_file, **files})
        return load(tmp_path, target, var, user=user, environ=environ)

    return make


@pytest.fixture
def refusal_of(bundle_of: Callable[..., Bundle]) -> Callable[..., BundleError]:
    """Load a bundle that must not load, and return its error."""

    def refuse(*args: object, **kwargs: object) -> BundleError:
        with pytest.raises(BundleError) as caught:
            bundle_of(*args, **kwargs)
        return caught.value

    return refuse
