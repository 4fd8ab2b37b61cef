"""Functions of the Databricks SQL reference that Spark lacks: those added here, and the missing ones.

A test compares both with a running session.
"""

from __future__ import annotations

from dataclasses import dataclass

# Name -> the function of Spark's that it is an alias of; empty if lakeward implements it.
ADDED = {
    "charindex": "locate",
    "current_metastore": "",
    "current_version": "",
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
    """Functions that are missing for the same reason; `unsupported` ones fail with UNSUPPORTED_SQL."""

    reason: str
    names: tuple[str, ...]
    unsupported: bool = False


def _names(prefix: str, names: str) -> tuple[str, ...]:
    """Return the names of a family, sorted.

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
        "call a model that the platform serves; a function that the project registers replaces it",
        _names("ai_", _AI),
        unsupported=True,
    ),
    Missing("queries an index that the platform serves", ("vector_search",)),
    Missing("need the H3 library, which Spark does not include", _names("h3_", _H3)),
    Missing(
        "Spark has the geometry types and few functions for them",
        (*_names("st_", _ST), "to_geography", "to_geometry", "try_to_geography", "try_to_geometry"),
    ),
    Missing(
        "use Spark's format `statestore` to read a stream's state",
        ("read_state_metadata", "read_statestore"),
    ),
    Missing(
        "no equivalent in Spark",
        (
            *("bit_reverse", "current_oauth_custom_identity_claim", "schema_of_json_agg", "stringdecode"),
            *("try_remainder", "try_zstd_decompress", "zstd_compress", "zstd_decompress"),
        ),
    ),
    Missing(
        "read from an external service",
        ("http_request", "read_kafka", "read_kinesis", "read_pubsub", "read_pulsar", "remote_query"),
    ),
    Missing(
        "describe an account, which a local lakehouse does not have",
        ("current_recipient", "list_secrets"),
    ),
)
