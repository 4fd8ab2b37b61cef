"""Deploying a bundle to a workspace, over whatever speaks its REST API: an `Api`."""

from lakeward.bundle.deployment.deploy import Deployed, deploy, deployed_id, destroy
from lakeward.bundle.deployment.kinds import Api

__all__ = ["Api", "Deployed", "deploy", "deployed_id", "destroy"]
