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
 * The result of INSERT into a Delta table: the numbers of affected and inserted rows, as on the platform. Spark
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

    /** Return the result of an INSERT that has run in this thread, with these columns; null for any other statement. */
    public static Dataset of(Dataset statement, String columns) throws IOException {
        LogicalPlan plan = statement.queryExecution().commandExecuted();
        LogicalPlan command = plan instanceof CommandResult ? ((CommandResult) plan).commandLogicalPlan() : null;
        Long inserted = command == null ? null : count(command);
        if (inserted == null) return null;
        Row row = RowFactory.create(new Object[] {inserted, inserted});
        return (Dataset) statement.sparkSession().createDataFrame(Collections.singletonList(row), StructType.fromDDL(columns));
    }

    /** Return the rows that a command of this thread has inserted; null for other commands, and where that is not known. */
    static Long count(LogicalPlan command) throws IOException {
        InsertedRows last = (InsertedRows) LAST.get();
        DeltaTableV2 target = target(command);
        if (target == null) return null;
        long before = target.initialSnapshot().version();
        boolean isCommitted = last != null && last.log.equals(target.deltaLog().logPath()) && last.version > before;
        // Delta commits nothing for a query that has no rows. Other storage than LinkLogStore remembers nothing.
        if (!isCommitted) return target.deltaLog().unsafeVolatileSnapshot().version() == before ? Long.valueOf(0) : null;
        JsonNode metrics = ((JsonNode) WarehouseLayout.JSON.readTree(last.information).get("commitInfo")).get("operationMetrics");
        if (metrics == null || !metrics.has("numOutputRows")) return null;
        long copied = metrics.has("numCopiedRows") ? metrics.get("numCopiedRows").asLong() : 0;
        return Long.valueOf(metrics.get("numOutputRows").asLong() - copied);
    }

    private static DeltaTableV2 target(LogicalPlan command) {
        if (!(command instanceof V2WriteCommand) || !(((V2WriteCommand) command).table() instanceof DataSourceV2Relation)) return null;
        Table table = ((DataSourceV2Relation) ((V2WriteCommand) command).table()).table();
        return table instanceof DeltaTableV2 ? (DeltaTableV2) table : null;
    }
}
