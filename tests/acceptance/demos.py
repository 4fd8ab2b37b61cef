"""Samples of databricks-demos/dbdemos-notebooks: bike rentals, loans, customer churn, wind turbines."""

from __future__ import annotations

from collections.abc import Mapping

from tests.acceptance.sample import Place, Row, Rows, Sample

__all__ = ["LAKEHOUSE_DEMOS"]

REPOSITORY = "databricks-demos/dbdemos-notebooks"
BIKES = "product_demos/Delta-Live-Table/declarative-pipelines/1-sdp-sql/transformations"
LOANS = "product_demos/Delta-Live-Table/dlt-loans"
CHURN = "demo-retail/lakehouse-retail-c360/01-Data-ingestion/01.2-SDP-python/transformations"
TURBINES = "demo-manufacturing/lakehouse-iot-platform/01-Data-ingestion/01.1-SDP-SQL/transformations"


def _model(names: str, answer: str) -> Mapping[str, str]:
    """The package that holds the demos' models, with one that always answers the same."""
    return {
        "mlflow.py": f"""
            from types import SimpleNamespace
            from pyspark.sql import functions as F

            def set_registry_uri(uri): pass

            def _spark_udf(spark, model, result_type, env_manager=None):
                udf = F.udf(lambda *values: {answer}, result_type)
                inputs = SimpleNamespace(input_names=lambda: {names})
                udf.metadata = SimpleNamespace(get_input_schema=lambda: inputs)
                return udf

            pyfunc = SimpleNamespace(spark_udf=_spark_udf)
            """
    }


def _bikes(place: Place) -> None:
    raw = place.volume("raw_data")
    place.text(
        f"{raw}/rides/0.csv",
        "ride_id,start_time,end_time,start_station_id,end_station_id,bike_id,user_type\n"
        "R1,2024-01-01T10:00:00,2024-01-01T10:30:00,S1,S2,B1,member\n"
        "R2,2024-01-01T11:00:00,2024-01-01T12:00:00,S2,S1,B1,casual\n"
        "R3,2024-01-01T13:00:00,2024-01-01T12:00:00,S1,S2,B2,casual\n",
    )
    place.text(
        f"{raw}/maintenance_logs/0.csv",
        "maintenance_id,bike_id,reported_time,resolved_time,issue_description\n"
        'M1,B1,2024-01-01T09:00:00,2024-01-03,"the brakes\nmake a noise"\n'
        "M2,B2,2024-01-01T09:00:00,2024-01-03,\n",
    )
    weather = {"timestamp": 1704067200, "temperature_f": 50.5, "rainfall_in": 0.5, "wind_speed_mph": 3.5}
    place.lines(f"{raw}/weather/0.json", [weather])
    place.stored(
        f"{raw}/customers_cdc",
        "SELECT id customer_id, 'member' user_type, '2023-01-01' registration_date, email, '1' phone, "
        "'18-25' age_group, 'basic' membership_tier, 'mobile_pay' preferred_payment, 'S1' home_station_id, "
        "true is_active, operation, at event_timestamp FROM VALUES "
        "('C1', 'a@x', 'APPEND', '01-01-2024 00:00:00'), ('C1', 'b@x', 'UPDATE', '02-01-2024 00:00:00'), "
        "('C2', 'c@x', 'APPEND', '01-01-2024 00:00:00'), ('C2', NULL, 'DELETE', '03-01-2024 00:00:00') "
        "AS v(id, email, operation, at)",
    )


LOAN_DATA = "/Volumes/main__build/dbdemos_dlt_loan/raw_data"


def _loans(place: Place) -> None:
    def transaction(number: int, balance: int, treatment: int) -> Row:
        return {
            "id": number, "accounting_treatment_id": treatment, "balance": balance, "arrears_balance": 10,
            "next_payment_date": "2021-06-01", "cost_center_code": "FR", "country_code": "FR", "count": 5,
        }  # fmt: skip

    place.lines(
        f"{LOAN_DATA}/raw_transactions/0.json",
        [transaction(1, 100, 0), transaction(2, -5, 0), transaction(3, 50, 9)],
    )
    place.text(
        f"{LOAN_DATA}/historical_loans/0.csv",
        "id,accounting_treatment_id,grade,recoveries,revol_bal,addr_state\n"
        "1,0,A,0,700,CA\n2,0,Z,0,300,CA\n3,9,A,0,9,NY\n",
    )
    place.stored(
        f"{LOAN_DATA}/ref_accounting_treatment",
        "SELECT 0 id, 'held_to_maturity' accounting_treatment",
        "delta",
    )


LOAN_RESULTS: Mapping[str, Rows] = {
    "SELECT id FROM {schema}.cleaned_new_txs": [(1,)],
    "SELECT id FROM {schema}.quarantine_bad_txs": [(2,)],
    "SELECT id, grade FROM {schema}.historical_txs": [(1, "A"), (2, "Z")],
    "SELECT location_code, bal FROM {schema}.total_loan_balances": [("CA", 1000), ("FR", 100)],
    "SELECT cost_center_code, sum_balance FROM {schema}.new_loan_balances_by_cost_center": [("FR", 100)],
    "SELECT country_code, sum_count FROM {schema}.new_loan_balances_by_country": [("FR", 5)],
}


def _churn(place: Place) -> None:
    raw = "/Volumes/main__build/dbdemos_retail_c360/c360"
    place.text(
        f"{raw}/events/0.csv",
        "user_id,session_id,platform,date\n"
        "U1,A,web,01-02-2024 10:00:00\nU1,A,web,01-03-2024 10:00:00\nU2,B,ios,01-03-2024 10:00:00\n",
    )
    order = {"user_id": "U1", "amount": 30, "item_count": 3, "transaction_date": "01-02-2024 10:00:00"}
    place.lines(f"{raw}/orders/0.json", [{"id": "O1", **order}, {**order, "id": None}])
    user = {
        "email": "a@x", "creation_date": "01-01-2024 10:00:00", "last_activity_date": "01-02-2024 10:00:00",
        "firstname": "ANN", "lastname": "lee", "address": "street", "canal": "WEBAPP", "country": "FR",
        "gender": 1, "age_group": 4, "churn": 0,
    }  # fmt: skip
    place.lines(f"{raw}/users/0.json", [{"id": "U1", **user}, {**user, "id": None}])


def _turbines(place: Place) -> None:
    raw = "/Volumes/main_build/dbdemos_iot_platform/turbine_raw_landing"
    status = {"start_time": 1704060000, "end_time": 1704080000, "abnormal_sensor": "sensor_B"}
    place.lines(f"{raw}/historical_turbine_status/0.json", [{"turbine_id": "T1", **status}])
    where = {"country": "FR", "lat": "1.5", "location": "Paris", "long": "2.5", "model": "M", "state": "S"}
    place.lines(f"{raw}/turbine/0.json", [{"turbine_id": "T1", **where}])
    sensors = ", ".join(f"1.0D sensor_{letter}" for letter in "ABCDEF")
    place.stored(
        f"{raw}/incoming_data",
        f"SELECT 'T1' turbine_id, at timestamp, energy, {sensors} FROM "
        "VALUES (1704067260L, 2.0D), (1704067320L, 4.0D), (1704067380L, -1.0D) AS v(at, energy)",
    )


def _catalog_and_schema(place: Place) -> dict[str, str]:
    return {"catalog": place.catalog, "schema": place.schema}


QUALITY = (
    "SELECT ex.value:name::string, ex.value:passed_records::long, ex.value:failed_records::long "
    "FROM event_log(TABLE({schema}.cleaned_new_txs)) e, LATERAL "
    "variant_explode(parse_json(e.details:flow_progress:data_quality:expectations:[ * ])) AS ex "
    "WHERE e.event_type = 'flow_progress' AND details:flow_progress:status = 'RUNNING' "
    "AND ex.value:dataset::string = 'cleaned_new_txs'"
)
LOG_RESULTS: Mapping[str, Rows] = {
    QUALITY: [
        ("Balance should be positive", 1, 1),
        ("Cost center must be specified", 2, 0),
        ("Payments should be this year", 2, 0),
    ],
}

LAKEHOUSE_DEMOS: tuple[Sample, ...] = (
    Sample(
        "4 bike rentals, SQL",
        REPOSITORY,
        tuple(f"{BIKES}/{name}.sql" for name in ("01-bronze", "02-silver", "03-gold")),
        ("SQL file", "declared columns with comments", "EXPECT(…)", "DATEDIFF(MINUTE, …)", "::DECIMAL",
         "GROUP BY ALL", "AUTO CDC SCD2 with a declared schema"),
        {
            "SELECT ride_id, ride_revenue FROM {schema}.rides": [("R1", "5.0000"), ("R2", "15.0000")],
            "SELECT bike_id, total_rides, total_revenue, start_station_id, end_station_id, "
            "requires_maintenance FROM {schema}.bikes": [("B1", 2, "20.0000", "S1", "S1", True)],
            "SELECT maintenance_id, days_to_resolve, revenue_lost FROM {schema}.maintenance_events": [
                ("M1", 2, "20.0000")
            ],
            "SELECT customer_id, email, CAST(__START_AT AS DATE), CAST(__END_AT AS DATE) "
            "FROM {schema}.customers": [
                ("C1", "a@x", "2024-01-01", "2024-02-01"),
                ("C1", "b@x", "2024-02-01", None),
                ("C2", "c@x", "2024-01-01", "2024-03-01"),
            ],
            "SELECT station_id, total_rides_as_origin, end_of_day_inventory FROM {schema}.stations": [
                ("S1", 1, 1),
                ("S2", 1, 0),
            ],
            "SELECT weather_date, temperature FROM {schema}.weather": [("2024-01-01", 50.5)],
        },
        _catalog_and_schema,
        _bikes,
        stand_ins={"functions.py": "spark.udf.register('ai_classify', lambda text, labels: labels[0])"},
    ),
    Sample(
        "6 loans, Python",
        REPOSITORY,
        (f"{LOANS}/02-SDP-Loan-pipeline-PYTHON.py",),
        ("Python notebook", "three kinds of expectations on a table", "quarantine", "cluster_by",
         "stream joined with a table"),
        LOAN_RESULTS,
        prepare=_loans,
    ),
    Sample(
        "7 loans, SQL and its log",
        REPOSITORY,
        (f"{LOANS}/01-SDP-Loan-pipeline-SQL.sql",),
        ("SQL notebook", "STREAMING LIVE VIEW", "STREAM delta.`path`", "names with spaces in constraints",
         "queries of details: paths over the event log"),
        {**LOAN_RESULTS, **LOG_RESULTS},
        prepare=_loans,
    ),
    Sample(
        "9 customer churn, Python",
        REPOSITORY,
        tuple(f"{CHURN}/{name}.py" for name in ("01-bronze", "02-silver", "03-gold")),
        ("Python file", "Auto Loader CSV and JSON", "expect_or_drop", "model as a UDF"),
        {
            "SELECT user_id, firstname, platform, event_count, session_count, total_amount, churn_prediction "
            "FROM {schema}.churn_prediction": [("U1", "Ann", "web", 2, 1, 30, 33)],
            "SELECT count(*) FROM {schema}.churn_orders": [(1,)],
        },
        prepare=_churn,
        stand_ins=_model("['total_amount', 'total_item']", "sum(values)"),
    ),
    Sample(
        "11 wind turbines, SQL",
        REPOSITORY,
        (*(f"{TURBINES}/{name}.sql" for name in ("01-bronze", "02-silver", "03-gold")),
         f"{TURBINES}/04-Wind-Turbine-UDF.py"),
        ("SQL file", "UDF of a Python file in SQL", "PRIMARY KEY", "* EXCEPT with a qualified name",
         "aliases in GROUP BY"),
        {
            "SELECT turbine_id, avg_energy, percentiles_sensor_A[0] FROM {schema}.sensor_hourly": [
                ("T1", 3.0, 1.0)
            ],
            "SELECT turbine_id, prediction FROM {schema}.turbine_current_status": [("T1", "sound")],
            "SELECT composite_key, location FROM {schema}.turbine_training_dataset": [
                ("T1-1704060000", "Paris")
            ],
        },
        prepare=_turbines,
        stand_ins=_model("[]", "'sound'"),
    ),
)  # fmt: skip
