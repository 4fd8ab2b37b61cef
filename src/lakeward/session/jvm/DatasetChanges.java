package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableChange;

/**
 * Statements on a materialized view or a streaming table that its definition excludes: ALTER of columns and properties,
 * replacement by a table, DROP with the word of another kind, commands on files.
 *
 * Sources: https://docs.databricks.com/aws/en/error-messages/streaming-table-operation-not-allowed-error-class and the
 * page of materialized views next to it; https://docs.databricks.com/aws/en/sql/language-manual has the statements that
 * apply (ALTER MATERIALIZED VIEW, ALTER STREAMING TABLE) and those that do not (CREATE STREAMING TABLE, Limitations).
 */
public final class DatasetChanges {

    /** Property with the kind of a dataset, KIND_PROPERTY of dataset_properties.py. */
    public static final String KIND = "lakeward.kind";
    public static final String VIEW = "materialized_view";
    private static final String STREAM = "streaming_table";

    private DatasetChanges() {
    }

    /** An update of a pipeline manages its own datasets; its session has the pipeline's id. */
    static String kind(Map properties, SparkSession session) {
        Object kind = properties.get(KIND);
        boolean isManaged = VIEW.equals(kind) || STREAM.equals(kind);
        return isManaged && session.conf().get("pipelines.id", null) == null ? (String) kind : null;
    }

    static boolean isDataset(Table table) {
        return table.properties().get(KIND) != null;
    }

    /** Return the changes after which the copy of a dataset is a table of its own. */
    static TableChange[] asTable() {
        return new TableChange[] {TableChange.removeProperty(KIND), TableChange.removeProperty("pipelines.pipelineId")};
    }

    /** Comments, owners, tags and policies can change; columns and properties are those of the definition. */
    static void requireAlterable(Map properties, SparkSession session, String name, TableChange[] changes) {
        for (int k = 0; k < changes.length; k++) {
            if (!(changes[k] instanceof TableChange.UpdateColumnComment) && !isComment(changes[k])) requireTable(properties, session, name, "ALTER TABLE", "INVALID_ALTER");
        }
    }

    private static boolean isComment(TableChange change) {
        return change instanceof TableChange.SetProperty && ((TableChange.SetProperty) change).property().equals("comment");
    }

    static void requireReplaceable(Map properties, SparkSession session, String name) {
        // `MaterializedViews` has the condition of writes for them.
        if (STREAM.equals(properties.get(KIND))) requireTable(properties, session, name, "CREATE OR REPLACE TABLE", "CREATE_OR_REPLACE");
    }

    /** Raise with a sub-condition that both kinds have, if the table is of one of them. */
    static void requireTable(Map properties, SparkSession session, String name, String operation, String detail) {
        String kind = kind(properties, session);
        if (kind == null) return;
        boolean isView = kind.equals(VIEW);
        String label = isView ? "materialized view" : "streaming table";
        ObjectNode error = WarehouseLayout.JSON.createObjectNode();
        error.put("condition", (isView ? "MATERIALIZED_VIEW" : "STREAMING_TABLE") + "_OPERATION_NOT_ALLOWED." + detail);
        error.put("sqlState", isView ? "56038" : "42601");
        error.put("message", "The operation " + operation + " is not allowed: " + name + " is a " + label
            + ". Change its definition with CREATE OR REFRESH " + label.toUpperCase(java.util.Locale.ROOT) + ", or that of its pipeline.");
        throw PythonSqlBridge.error(error);
    }

    /** DROP TABLE and DROP VIEW are not the statements that drop a materialized view. */
    static void requireDroppable(Map properties, SparkSession session, String name, String type) {
        if (!VIEW.equals(kind(properties, session))) return;
        throw PythonSqlBridge.error("WRONG_COMMAND_FOR_OBJECT_TYPE", "42809", "The operation DROP " + type + " requires a " + type + ". But " + name
            + " is a MATERIALIZED VIEW. Use DROP MATERIALIZED VIEW instead.");
    }
}
