"""Deploying a bundle to a workspace, over whatever speaks its REST API: an `Api`."""

from lakeward.bundle.deployment.deploy import Deployed, deploy, destroy
from lakeward.bundle.deployment.deployment_state import deployed_id, stored_ids
from lakeward.bundle.deployment.payloads import definition_of, undeployed_bodies
from lakeward.bundle.deployment.resource_api import Api
