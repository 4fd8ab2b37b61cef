"""Functions of the Databricks SQL reference that neither Spark nor this runtime has, and why.

What Spark has is Spark's to list (`SHOW FUNCTIONS`); what is added or refused by name stands in the
table of constructs. A test holds both against a running session.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ADDED", "MISSING", "Missing"]

# By name, for SHOW FUNCTIONS: an alias of one of Spark's, or served by this runtime.
ADDED = {
    "charindex": "locate",
    "getdate": "now",
    "iff": "if",
    "is_account_group_member": "",
    "is_member": "",
    "secret": "",
    "try_secret": "",
    "cloud_files": "",
    "cloud_files_state": "",
    "event_log": "",
    "read_files": "",
}


@dataclass(frozen=True)
class Missing:
    """Functions that are missing for the same reason; what is refused says so by UNSUPPORTED_SQL."""

    reason: str
    names: tuple[str, ...]
    refused: bool = False


def _names(prefix: str, names: str) -> tuple[str, ...]:
    """The names of a family, sorted.

    >>> _names("h3_", "b a")
    ('h3_a', 'h3_b')
    """
    return tuple(sorted(f"{prefix}{name}" for name in names.split()))


_AI = (
    "analyze_sentiment classify decide detect_anomalies enrich extract fix_grammar forecast gen "
    "generate_text mask parse_document predict_class predict_value prep_search query search "
    "similarity summarize top_drivers transcribe translate"
)
_H3 = (
    "boundaryasgeojson boundaryaswkb boundaryaswkt centerasgeojson centeraswkb centeraswkt compact coverash3 "
    "coverash3string distance h3tostring hexring ischildof ispentagon isvalid kring kringdistances "
    "longlatash3 longlatash3string maxchild minchild pointash3 pointash3string polyfillash3 "
    "polyfillash3string resolution stringtoh3 tessellateaswkb tochildren toparent try_coverash3 "
    "try_coverash3string try_distance try_polyfillash3 try_polyfillash3string try_tessellateaswkb "
    "try_validate uncompact validate"
)
_ST = (
    "addpoint area asewkb asewkt asgeojson astext aswkb aswkt azimuth boundary buffer centroid "
    "closestpoint concavehull contains convexhull coveredby covers difference dimension disjoint distance "
    "distancesphere distancespheroid dump dwithin endpoint envelope envelope_agg equals estimatesrid "
    "exteriorring flipcoordinates force2d geogarea geogfromewkt geogfromgeojson geogfromtext geogfromwkt "
    "geoglength geogperimeter geohash geometryn geometrytype geomfromewkb geomfromewkt geomfromgeohash "
    "geomfromgeojson geomfromtext geomfromwkt interiorringn intersection intersects isempty isvalid "
    "length linefromencodedpolyline m makeline makepolygon multi ndims npoints numgeometries "
    "numinteriorrings perimeter point pointfromgeohash pointn pointonsurface removepoint reverse rotate "
    "scale setpoint simplify startpoint symdifference touches transform translate union union_agg within "
    "x xmax xmin y ymax ymin z zmax zmin"
)

MISSING = (
    Missing(
        "they ask a model that the platform serves; one that the project registers stands in",
        _names("ai_", _AI),
        refused=True,
    ),
    Missing("it asks an index that the platform serves", ("vector_search",)),
    Missing("H3 cells need a library that Spark does not bring", _names("h3_", _H3)),
    Missing(
        "Spark has the types of geometry and little to do with them",
        (*_names("st_", _ST), "to_geography", "to_geometry", "try_to_geography", "try_to_geometry"),
    ),
    Missing(
        "Spark reads a stream's state by its format `statestore`",
        ("read_state_metadata", "read_statestore"),
    ),
    Missing(
        "Spark has nothing of the kind",
        (
            *("bit_reverse", "current_oauth_custom_identity_claim", "schema_of_json_agg", "stringdecode"),
            *("try_remainder", "try_zstd_decompress", "zstd_compress", "zstd_decompress"),
        ),
    ),
    Missing(
        "they read from a service of their own",
        ("http_request", "read_kafka", "read_kinesis", "read_pubsub", "read_pulsar", "remote_query"),
    ),
    Missing(
        "they tell of an account, which one machine has not",
        ("current_metastore", "current_recipient", "current_version", "list_secrets"),
    ),
)
