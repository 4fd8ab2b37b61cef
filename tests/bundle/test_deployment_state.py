"""The state of a deployment: what is missing is a first deployment, what is damaged is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lakeward.bundle import Bundle, deploy, destroy
from lakeward.errors import BundleError

_WHOLE = '{"files": {}, "resources": {"jobs.j": {"id": "7"}}}'
_DAMAGED = {
    "empty": "",
    "cut": _WHOLE[:30],
    "list": "[]",
    "text": '"state"',
    "no resources": '{"files": {}}',
    "a resource without an id": '{"files": {}, "resources": {"jobs.j": {}}}',
    "a resource that is a text": '{"files": {}, "resources": {"jobs.j": "7"}}',
}


class Workspace:
    """A workspace with one file, that of the state."""

    def __init__(self, state: str) -> None:
        self.state = state

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        raise AssertionError(f"{method} {path}")

    def upload(self, path: str, content: bytes) -> None:
        raise AssertionError(path)

    def download(self, path: str) -> bytes:
        assert path.endswith("/state/lakeward.json")
        return self.state.encode()


@pytest.mark.parametrize("action", ["deploy", "destroy"])
@pytest.mark.parametrize("state", _DAMAGED)
def test_nothing_is_deployed_or_removed_without_the_ids_of_before(
    bundle_of: Callable[..., Bundle], action: str, state: str
) -> None:
    bundle = bundle_of("bundle: {name: b}\nresources: {jobs: {j: {name: j}}}")
    api = Workspace(_DAMAGED[state])
    with pytest.raises(BundleError) as caught:
        deploy(bundle, api, {}, user="me") if action == "deploy" else destroy(bundle, api)
    assert caught.value.condition == "DEPLOYMENT_STATE_DAMAGED"
    assert "/state/lakeward.json" in str(caught.value)
