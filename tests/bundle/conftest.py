from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

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
        for name, text in {"databricks.yml": root_file, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        return load(tmp_path, target, var, user=user, environ=environ)

    return make


@pytest.fixture
def refusal_of(bundle_of: Callable[..., Bundle]) -> Callable[..., BundleError]:
    """Callable[..., Bundle] a bundle that must not load, and return its error."""

    def refuse(*args: object, **kwargs: object) -> BundleError:
        with pytest.raises(BundleError) as caught:
            bundle_of(*args, **kwargs)
        return caught.value

    return refuse
