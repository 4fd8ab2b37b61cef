package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;

/**
 * A table while it is replaced. The new definition has the keys that the statement declares, which follow the commit:
 * those of the table before are dropped with it. A replacement preserves history, privileges, row filter and masks.
 * Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-create-table-using (REPLACE)
 */
public class ReplacedTable extends DelegatingTable implements StagedTable, SupportsWrite {

    /** Spark's option for mode("overwrite").saveAsTable, which replaces the rows alone. */
    private static final String ROWS_ALONE = "__v1_save_as_table_overwrite";

    private final StagedTable table;
    private final WarehouseLayout folder;
    private final Path about;
    private boolean keepsSchema = false;

    ReplacedTable(StagedTable table, WarehouseLayout folder, Path about) {
        super(table);
        this.table = table;
        this.folder = folder;
        this.about = about;
    }

    /** Called where the rows of a table are replaced, whose definition and features remain. */
    void prepareOverwrite(boolean hasNewSchema) {
    }

    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        boolean hasNewSchema = info.options().getBoolean("overwriteSchema", false);
        boolean isOverwrite = info.options().getBoolean(ROWS_ALONE, false);
        keepsSchema = isOverwrite && !hasNewSchema;
        if (isOverwrite) prepareOverwrite(hasNewSchema);
        return ((SupportsWrite) table).newWriteBuilder(info);
    }

    public void commitStagedChanges() {
        table.commitStagedChanges();
        ObjectNode known = keepsSchema ? null : folder.read(about);
        if (known != null && known.remove(TableKeys.KEYS) != null) folder.write(about, known);
    }

    public void abortStagedChanges() {
        table.abortStagedChanges();
    }

    public org.apache.spark.sql.connector.metric.CustomTaskMetric[] reportDriverMetrics() {
        return table.reportDriverMetrics();
    }

    public Column[] columns() {
        return table.columns();
    }
}
