"""Providers of Git repositories that credentials and Git folders name.

Source: https://docs.databricks.com/api/workspace/gitcredentials/create
"""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import invalid_parameter

_PROVIDERS = (
    "gitHub",
    "gitHubEnterprise",
    "bitbucketCloud",
    "bitbucketServer",
    "gitLab",
    "gitLabEnterpriseEdition",
    "azureDevOpsServices",
    "awsCodeCommit",
)


def require_provider(name: str) -> str:
    """Return the provider of a name in any case of letters. Raises ApiError for an unknown one.

    >>> require_provider("GITHUB")
    'gitHub'
    """
    for provider in _PROVIDERS:
        if provider.lower() == name.lower():
            return provider
    raise invalid_parameter(f"{name[:50]!r} is not a provider: {', '.join(_PROVIDERS)}.")
