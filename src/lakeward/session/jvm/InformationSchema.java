package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.RelationCatalog;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The schema information_schema of a catalog; its rows are computed on each read. In the catalog `system` it covers
 * all catalogs.
 */
public class InformationSchema implements SupportsRead {

    public static final String NAME = InformationSchemaScan.SCHEMA;
    private static volatile Map relations = new TreeMap();
    private static volatile Map selecting = Collections.EMPTY_MAP;
    /** What describes the schema of every catalog, and the catalogs that have none. */
    private static volatile JsonNode about = WarehouseLayout.JSON.createObjectNode();

    private final RelationCatalog catalog;
    private final WarehouseLayout folder;
    private final String name;

    private InformationSchema(RelationCatalog catalog, WarehouseLayout folder, String name) {
        this.catalog = catalog;
        this.folder = folder;
        this.name = name;
    }

    /**
     * Three JSON objects: the columns of the relations as DDL, by name; what a filter on a column selects of the objects
     * that are read, by `relation.column`: "catalogs", "schemas" or "tables"; and owner, comment and catalogs_without.
     */
    public static void use(String ddl, String columns, String description) {
        try {
            about = WarehouseLayout.JSON.readTree(description);
            selecting = ObjectDefinitions.javaMap(WarehouseLayout.JSON.readTree(columns));
            relations = new TreeMap(ObjectDefinitions.javaMap(WarehouseLayout.JSON.readTree(ddl)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether `namespace` is the schema of a catalog that has one. */
    static boolean holds(String catalog, String[] namespace) {
        return namespace.length == 1 && namespace[0].equalsIgnoreCase(NAME) && isIn(catalog);
    }

    static boolean isIn(String catalog) {
        JsonNode without = (JsonNode) about.path("catalogs_without");
        for (int i = 0; i < without.size(); i++) {
            if (catalog.equalsIgnoreCase(((JsonNode) without.get(i)).asText())) return false;
        }
        return true;
    }

    /** What DESCRIBE SCHEMA shows. */
    static Map description() {
        Map out = new HashMap();
        out.put("comment", about.get("comment").asText());
        out.put("owner", about.get("owner").asText());
        out.put("location", "");
        return out;
    }

    /** Refuse to change the schema of a catalog or what is in it; `privilege` ends before the kind and name of the object. */
    static void requireOther(String catalog, String[] namespace, String privilege) {
        if (!holds(catalog, namespace)) return;
        throw PythonSqlBridge.error("INSUFFICIENT_PERMISSIONS", "42501", "Insufficient privileges: " + privilege
            + " Schema '" + catalog + "." + NAME + "'. It is computed for each catalog and cannot be changed.");
    }

    /** Refuse to change a relation; a name without one is that of no table. */
    static void requireOther(RelationCatalog catalog, Identifier i, String privilege) {
        if (holds(catalog.name(), i.namespace()) && isRelation(i)) requireOther(catalog.name(), i.namespace(), privilege);
    }

    private static boolean isRelation(Identifier i) {
        return relations.containsKey(i.name().toLowerCase(Locale.ROOT));
    }

    /** The relation of that name, or null. */
    static Table find(RelationCatalog catalog, WarehouseLayout folder, Identifier i) {
        String name = i.name().toLowerCase(Locale.ROOT);
        return holds(catalog.name(), i.namespace()) && isRelation(i) ? new InformationSchema(catalog, folder, name) : null;
    }

    static String[] names() {
        return (String[]) relations.keySet().toArray(new String[0]);
    }

    public String name() {
        return NAME + "." + name;
    }

    public StructType schema() {
        return StructType.fromDDL((String) relations.get(name));
    }

    public Set capabilities() {
        return Collections.singleton(TableCapability.BATCH_READ);
    }

    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return new InformationSchemaScan(catalog, folder, name, schema(), selecting, about.get("owner").asText());
    }
}
