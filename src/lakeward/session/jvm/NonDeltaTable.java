package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * A table of another format than Delta's while it is made or replaced: nothing happens before the commit.
 * Only Delta writes a table and its rows at once, so a query that should fill it is refused in time.
 */
abstract class NonDeltaTable implements StagedTable, SupportsWrite {

    private final Identifier identifier;
    private final StructType schema;
    private final Map properties;

    NonDeltaTable(Identifier identifier, StructType schema, Map properties) {
        this.identifier = identifier;
        this.schema = schema;
        this.properties = properties;
    }

    /** Makes or replaces the table, without rows. */
    abstract StagedTable made();

    static boolean is(Map properties) {
        String format = (String) properties.get("provider");
        return format != null && !format.equalsIgnoreCase("delta");
    }

    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        boolean isManaged = properties.get("location") == null;
        ObjectNode error = WarehouseLayout.JSON.createObjectNode();
        error.put("condition", isManaged ? "UNSUPPORTED_MANAGED_TABLE_CREATION" : "UNSUPPORTED_SQL");
        error.put("sqlState", isManaged ? "0AKDE" : "0A000");
        error.put("message", "The table " + identifier.name() + " cannot be made of a query in the format " + properties.get("provider")
            + ". Use delta" + (isManaged ? ", or write files of that format to a path." : ", or create the table with its columns first and insert into it."));
        throw PythonSqlBridge.error(error);
    }

    public void commitStagedChanges() {
        made().commitStagedChanges();
    }

    public void abortStagedChanges() {}

    public String name() {
        return identifier.name();
    }

    public StructType schema() {
        return schema;
    }

    public Map properties() {
        return properties;
    }

    public Set capabilities() {
        return EnumSet.of(TableCapability.BATCH_WRITE, TableCapability.TRUNCATE, TableCapability.ACCEPT_ANY_SCHEMA);
    }
}
