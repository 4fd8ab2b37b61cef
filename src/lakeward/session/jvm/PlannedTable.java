package lakeward;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.delta.commands.cdc.CDCReader$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A dataset that a pipeline is going to make: it has a schema and no rows, reads as batch and as
 * stream, and touches no disk. While it is planned, its name answers with it.
 */
public class PlannedTable implements Table, SupportsRead, ScanBuilder, Scan, Batch {

    private static final ConcurrentHashMap PLANNED = new ConcurrentHashMap();
    private static final Set SCHEMAS = ConcurrentHashMap.newKeySet();

    private final String name;
    private final StructType schema;

    public PlannedTable(String name, StructType schema) {
        this.name = name;
        this.schema = schema;
    }

    /** `name` is catalog.schema.table without quotes; `json` is Spark's schema JSON. */
    public static void add(String name, String json) {
        PLANNED.put(key(name), new PlannedTable(name, (StructType) DataType.fromJson(json)));
    }

    public static void remove(String name) {
        PLANNED.remove(key(name));
    }

    /** `name` is catalog.schema without quotes; it exists from now on. */
    public static void addSchema(String name) {
        SCHEMAS.add(key(name));
    }

    public static void removeSchema(String name) {
        SCHEMAS.remove(key(name));
    }

    public static void clear() {
        PLANNED.clear();
        SCHEMAS.clear();
    }

    /** The table with the columns of Delta's change data feed after its own. */
    PlannedTable feed() {
        return new PlannedTable(name, CDCReader$.MODULE$.cdcReadSchema(schema));
    }

    static Table find(String catalog, Identifier identifier) {
        if (PLANNED.isEmpty()) return null;
        return (Table) PLANNED.get(key(catalog + "." + String.join(".", identifier.namespace()) + "." + identifier.name()));
    }

    static boolean isUsed() {
        return !PLANNED.isEmpty();
    }

    static boolean hasNamespace(String catalog, String[] namespace) {
        return !SCHEMAS.isEmpty() && SCHEMAS.contains(key(catalog + "." + String.join(".", namespace)));
    }

    private static String key(String name) {
        return name.toLowerCase(Locale.ROOT);
    }

    public String name() {
        return name;
    }

    public StructType schema() {
        return schema;
    }

    public Set capabilities() {
        Set all = new HashSet();
        all.add(TableCapability.BATCH_READ);
        all.add(TableCapability.MICRO_BATCH_READ);
        return all;
    }

    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return this;
    }

    public Scan build() {
        return this;
    }

    public StructType readSchema() {
        return schema;
    }

    public Batch toBatch() {
        return this;
    }

    public InputPartition[] planInputPartitions() {
        return new InputPartition[0];
    }

    public PartitionReaderFactory createReaderFactory() {
        return null;
    }
}
