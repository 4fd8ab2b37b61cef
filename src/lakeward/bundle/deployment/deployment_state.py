"""What a deployment left in the workspace: `state/lakeward.json` below the bundle's root path."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lakeward.bundle.deployment.resource_api import Api
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.errors import BundleError


@dataclass(frozen=True)
class DeployedResource:
    """A resource of the workspace. `digest` is that of its settings, permissions and grants.

    `shared`: the bundle has given it permissions or grants.
    """

    id: str
    digest: str = ""
    protected: bool = False
    shared: bool = False


@dataclass
class DeploymentState:
    """Digests of files by their path in the workspace, and resources by `<kind>.<key>`."""

    files: dict[str, str] = field(default_factory=dict)
    resources: dict[str, DeployedResource] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str | bytes) -> DeploymentState:
        """Return the state of a file. Raises ValueError for other files."""
        try:
            stored = json.loads(text)
            resources = {
                name: DeployedResource(
                    str(each["id"]),
                    each.get("digest", ""),
                    bool(each.get("protected")),
                    bool(each.get("shared")),
                )
                for name, each in stored["resources"].items()
            }
            return cls(stored["files"], resources)
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError("not the document of a deployment") from error

    @classmethod
    def read(cls, bundle: Bundle, api: Api) -> DeploymentState:
        """Return the state of the last deployment; an empty one before the first.

        Raises:
            BundleError: DEPLOYMENT_STATE_DAMAGED: without it, every resource would be created a second time.
        """
        file = _state_file(bundle)
        try:
            text = api.download(file)
        except LookupError:
            return cls()
        try:
            return cls.from_json(text)
        except ValueError:
            raise BundleError(
                "DEPLOYMENT_STATE_DAMAGED",
                f"{file} should have the ids of what was deployed to target {bundle.target}. It is no JSON "
                f"document of a deployment ({len(text)} bytes).",
                next_step="Restore the file. Or remove it and what the bundle deployed: the next deployment "
                "creates everything.",
            ) from None

    def save(self, bundle: Bundle, api: Api) -> None:
        """Store the state in the workspace."""
        api.upload(_state_file(bundle), json.dumps(asdict(self)).encode())

    def of_kind(self, kind: str) -> list[str]:
        """Return the names of the resources of a kind."""
        return [name for name in self.resources if name.startswith(f"{kind}.")]

    def require_unprotected(self, names: Iterable[str]) -> None:
        """Raise BundleError(DESTROY_PREVENTED) if one of the resources must not be deleted."""
        protected = [name for name in names if self.resources[name].protected]
        if protected:
            raise BundleError(
                "DESTROY_PREVENTED",
                f"{', '.join(protected)} would be deleted, and lifecycle.prevent_destroy forbids it.",
                next_step="Set it to false and deploy, if it is meant.",
            )


def deployed_id(bundle: Bundle, api: Api, kind: str, key: str) -> str:
    """Return the id of a deployed resource. Raises BundleError(NOT_DEPLOYED)."""
    known = DeploymentState.read(bundle, api).resources.get(f"{kind}.{key}")
    if known is None:
        message = f"`{key}` has not been deployed to this workspace as target {bundle.target}."
        raise BundleError("NOT_DEPLOYED", message, next_step=f"lakeward bundle deploy -t {bundle.target}")
    return known.id


def stored_ids(bundle: Bundle, folder: Path) -> dict[str, str]:
    """Return the ids of all deployed resources by `<kind>.<key>`; empty before the first deployment.

    `folder` has the workspace's files: its server need not run.
    """
    file = folder / _state_file(bundle).removeprefix("/Workspace").lstrip("/")
    try:
        state = DeploymentState.from_json(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return {name: known.id for name, known in state.resources.items()}


def _state_file(bundle: Bundle) -> str:
    return f"{bundle.config['workspace']['state_path']}/lakeward.json"
