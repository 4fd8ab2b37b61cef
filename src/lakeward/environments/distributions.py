"""The distributions that bring modules, where their names differ."""

from __future__ import annotations

from collections.abc import Mapping

# Module -> distribution, where the names differ.
_DISTRIBUTIONS = {
    "_distutils_hack": "setuptools",
    "airflow": "apache-airflow",
    "argon2": "argon2-cffi",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "confluent_kafka": "confluent-kafka",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dns": "dnspython",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "git": "gitpython",
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "imblearn": "imbalanced-learn",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "kafka": "kafka-python",
    "ldap": "python-ldap",
    "magic": "python-magic",
    "markdown_it": "markdown-it-py",
    "mpl_toolkits": "matplotlib",
    "MySQLdb": "mysqlclient",
    "nacl": "pynacl",
    "OpenSSL": "pyopenssl",
    "osgeo": "gdal",
    "PIL": "pillow",
    "pkg_resources": "setuptools",
    "pptx": "python-pptx",
    "proto": "proto-plus",
    "psycopg2": "psycopg2-binary",
    "pylab": "matplotlib",
    "pythoncom": "pywin32",
    "pythonjsonlogger": "python-json-logger",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "snowflake": "snowflake-connector-python",
    "socketio": "python-socketio",
    "sparknlp": "spark-nlp",
    "telegram": "python-telegram-bot",
    "umap": "umap-learn",
    "websocket": "websocket-client",
    "win32com": "pywin32",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
# Distributions whose modules share a namespace, by the longest listed prefix of the module: a name, or the
# number of parts that make one. `azure.storage.blob` is of azure-storage-blob, `azure.core.exceptions` of
# azure-core. Anyone could register a name that nothing has, so the advice must not derive a longer one.
_BELOW_NAMESPACES: Mapping[str, str | int] = {
    "airflow": 1,
    "airflow.providers": 3,
    **dict.fromkeys(
        (
            *("airflow.providers.apache", "airflow.providers.cncf", "airflow.providers.common"),
            "airflow.providers.microsoft",
        ),
        4,
    ),
    "azure": 2,
    **dict.fromkeys(
        (
            *("azure.ai", "azure.communication", "azure.data", "azure.digitaltwins"),
            *("azure.iot", "azure.keyvault", "azure.kusto", "azure.mgmt", "azure.monitor", "azure.search"),
            *("azure.storage", "azure.synapse"),
        ),
        3,
    ),
    "azure.storage.filedatalake": "azure-storage-file-datalake",
    "azure.storage.fileshare": "azure-storage-file-share",
    "databricks": 2,
    "databricks.labs": 3,
    "google": 2,
    **dict.fromkeys(("google.analytics", "google.cloud", "google.maps"), 3),
    **dict.fromkeys(("google.api", "google.rpc", "google.type"), "googleapis-common-protos"),
    "google.cloud.pubsub_v1": "google-cloud-pubsub",
    "google.cloud.secretmanager": "google-cloud-secret-manager",
    "google.cloud.secretmanager_v1": "google-cloud-secret-manager",
    "google.oauth2": "google-auth",
    "google.protobuf": "protobuf",
    "llama_index": 1,
    "llama_index.core": 2,
    **dict.fromkeys(
        (
            *("llama_index.agent", "llama_index.embeddings", "llama_index.indices", "llama_index.llms"),
            *("llama_index.readers", "llama_index.retrievers", "llama_index.tools"),
            "llama_index.vector_stores",
        ),
        3,
    ),
    "opentelemetry": "opentelemetry-api",
    "opentelemetry.sdk": "opentelemetry-sdk",
    **dict.fromkeys(("opentelemetry.exporter", "opentelemetry.instrumentation"), 3),
    "ruamel": 2,
    "runtime.nutterfixture": "nutter",
}
NAMESPACES = frozenset(prefix for prefix in _BELOW_NAMESPACES if "." not in prefix)
"""Packages whose modules come from several distributions."""


def distribution_of(module: str) -> str:
    """Return the distribution that brings `module`.

    >>> [distribution_of(each) for each in ("yaml", "azure.core.exceptions", "azure.storage.blob.aio")]
    ['pyyaml', 'azure-core', 'azure-storage-blob']
    """
    parts = module.split(".")
    prefixes = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    rule = next((_BELOW_NAMESPACES[each] for each in prefixes if each in _BELOW_NAMESPACES), None)
    if isinstance(rule, int):
        first = _DISTRIBUTIONS.get(parts[0], parts[0])
        return "-".join((first, *parts[1:rule])).replace("_", "-")
    return rule or _DISTRIBUTIONS.get(parts[0], parts[0].replace("_", "-"))
