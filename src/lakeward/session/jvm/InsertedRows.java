package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Collections;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.StructType;

/**
 * The result of INSERT into a Delta table: num_affected_rows and num_inserted_rows, as on the platform. Spark
 * gives none. The numbers are those of the commit that the thread of the statement has written.
 */
public class InsertedRows {

    private static final ThreadLocal LAST = new ThreadLocal();

    private final Path log;
    private final long version;
    private final String information;

    private InsertedRows(Path file, String information) {
        this.log = file.getParent();
        this.version = Long.parseLong(file.getName().substring(0, 20));
        this.information = information;
    }

    /** Remember a commit of this thread; `information` is the action "commitInfo" as JSON. */
    static void committed(Path file, String information) {
        LAST.set(new InsertedRows(file, information));
    }

    /** Return the result of an INSERT that has run in this thread; null for any other statement. */
    public static Dataset of(Dataset statement) throws IOException {
        InsertedRows last = (InsertedRows) LAST.get();
        LAST.remove();
        DeltaTableV2 target = target(statement.queryExecution().commandExecuted());
        if (target == null) return null;
        long before = target.initialSnapshot().version();
        boolean isCommitted = last != null && last.log.equals(target.deltaLog().logPath()) && last.version > before;
        // Delta commits nothing for a query that has no rows. Other storage than LinkLogStore remembers nothing.
        if (!isCommitted) return target.deltaLog().unsafeVolatileSnapshot().version() == before ? result(statement, 0) : null;
        JsonNode metrics = ((JsonNode) WarehouseLayout.JSON.readTree(last.information).get("commitInfo")).get("operationMetrics");
        if (metrics == null || !metrics.has("numOutputRows")) return null;
        long copied = metrics.has("numCopiedRows") ? metrics.get("numCopiedRows").asLong() : 0;
        return result(statement, metrics.get("numOutputRows").asLong() - copied);
    }

    private static Dataset result(Dataset statement, long inserted) {
        Row row = RowFactory.create(new Object[] {Long.valueOf(inserted), Long.valueOf(inserted)});
        StructType schema = StructType.fromDDL("num_affected_rows BIGINT, num_inserted_rows BIGINT");
        return (Dataset) statement.sparkSession().createDataFrame(Collections.singletonList(row), schema);
    }

    private static DeltaTableV2 target(LogicalPlan plan) {
        LogicalPlan command = plan instanceof CommandResult ? ((CommandResult) plan).commandLogicalPlan() : null;
        if (!(command instanceof V2WriteCommand) || !(((V2WriteCommand) command).table() instanceof DataSourceV2Relation)) return null;
        Table table = ((DataSourceV2Relation) ((V2WriteCommand) command).table()).table();
        return table instanceof DeltaTableV2 ? (DeltaTableV2) table : null;
    }
}
