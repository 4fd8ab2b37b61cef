package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.RelationCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The schema information_schema of a catalog; its rows are computed on each read. In the catalog `system` it covers
 * all catalogs.
 */
public class InformationSchema implements SupportsRead, ScanBuilder, LocalScan {

    public static final String NAME = "information_schema";
    private static final String EVERYTHING = "system";
    private static volatile Map relations = new TreeMap();

    private final RelationCatalog catalog;
    private final WarehouseLayout folder;
    private final String name;

    private InformationSchema(RelationCatalog catalog, WarehouseLayout folder, String name) {
        this.catalog = catalog;
        this.folder = folder;
        this.name = name;
    }

    /** The relations: a JSON object of their columns as DDL, by name. */
    public static void use(String ddl) {
        try {
            relations = new TreeMap(ObjectDefinitions.javaMap(WarehouseLayout.JSON.readTree(ddl)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static boolean holds(String[] namespace) {
        return namespace.length == 1 && namespace[0].equalsIgnoreCase(NAME);
    }

    /** The relation of that name, or null. */
    static Table find(RelationCatalog catalog, WarehouseLayout folder, Identifier i) {
        String name = i.name().toLowerCase(Locale.ROOT);
        return holds(i.namespace()) && relations.containsKey(name) ? new InformationSchema(catalog, folder, name) : null;
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
        return this;
    }

    public Scan build() {
        return this;
    }

    public StructType readSchema() {
        return schema();
    }

    public InternalRow[] rows() {
        List rows = new ArrayList();
        boolean isOwn = name.equals("schemata") || name.equals("tables") || name.equals("views") || name.equals("columns");
        List catalogs = catalogs();
        for (int c = 0; c < catalogs.size(); c++) {
            RelationCatalog each = (RelationCatalog) catalogs.get(c);
            try {
                if (isOwn) addAll(rows, each);
                else addAsked(rows, each.name());
            } catch (Exception gone) {
                // Another process may drop objects meanwhile: return the rows read so far.
                if (!(gone instanceof org.apache.spark.sql.AnalysisException) || !isOwn) throw WarehouseCatalog.sneak(gone);
            }
        }
        return (InternalRow[]) rows.toArray(new InternalRow[0]);
    }

    private List catalogs() {
        if (!catalog.name().equals(EVERYTHING)) return Collections.singletonList(catalog);
        CatalogManager manager = ((SparkSession) org.apache.spark.sql.SparkSession.active()).sessionState().catalogManager();
        List names = folder.folders(folder.root());
        List all = new ArrayList();
        for (int k = 0; k < names.size(); k++) {
            String each = (String) names.get(k);
            if (!each.equals(IdentifierCodec.SESSION) && manager.isCatalogRegistered(each) && manager.catalog(each) instanceof RelationCatalog) all.add(manager.catalog(each));
        }
        return all;
    }

    /** The rows of a relation that Python computes: objects of values by column, timestamps in microseconds. */
    private static JsonNode rowsOfPython(String relation, String catalog) throws IOException {
        ObjectNode call = WarehouseLayout.JSON.createObjectNode();
        call.put("name", "information_schema");
        call.putObject("arguments").put("relation", relation).put("catalog", catalog);
        Object answer = PythonSqlBridge.run(call.toString(), org.apache.spark.sql.SparkSession.active());
        if (answer instanceof Throwable) throw WarehouseCatalog.sneak((Throwable) answer);
        JsonNode json = WarehouseLayout.JSON.readTree((String) answer);
        if (json.has("error")) throw PythonSqlBridge.error(json.get("error"));
        return json.get("rows");
    }

    private void addAsked(List rows, String of) throws IOException {
        JsonNode found = rowsOfPython(name, of);
        for (int r = 0; r < found.size(); r++) {
            JsonNode row = (JsonNode) found.get(r);
            Map values = new HashMap();
            StructField[] fields = schema().fields();
            for (int f = 0; f < fields.length; f++) {
                JsonNode value = row.get(fields[f].name());
                if (value == null || value.isNull()) continue;
                boolean isInt = fields[f].dataType() instanceof IntegerType;
                Object number = isInt ? (Object) Integer.valueOf(value.asInt()) : (Object) Long.valueOf(value.asLong());
                values.put(fields[f].name(), value.isIntegralNumber() ? number : value.asText());
            }
            add(rows, values);
        }
    }

    private void addAll(List rows, RelationCatalog from) throws Exception {
        String[][] schemas = ((SupportsNamespaces) from).listNamespaces();
        Map queries = name.equals("views") ? materializedQueries(from.name()) : Collections.EMPTY_MAP;
        for (int s = 0; s < schemas.length; s++) {
            if (name.equals("schemata")) {
                Map about = ((SupportsNamespaces) from).loadNamespaceMetadata(schemas[s]);
                Map values = new HashMap();
                values.put("catalog_name", from.name());
                values.put("schema_name", schemas[s][0]);
                values.put("schema_owner", owner(about, note(from, schemas[s][0], "", "schema.about")));
                values.put("comment", text(about.get("comment")));
                add(rows, values);
                continue;
            }
            Identifier[] views = from.listViews(schemas[s]);
            for (int k = 0; k < views.length; k++) addView(rows, from, views[k]);
            Identifier[] tables = from.listTables(schemas[s]);
            for (int k = 0; k < tables.length; k++) addTable(rows, from, tables[k], queries);
        }
    }

    /** Queries of materialized views, by schema and name. */
    private static Map materializedQueries(String catalog) throws IOException {
        JsonNode found = rowsOfPython("materialized_queries", catalog);
        Map queries = new HashMap();
        for (int r = 0; r < found.size(); r++) {
            JsonNode row = (JsonNode) found.get(r);
            queries.put(row.get("table_schema").asText() + "." + row.get("table_name").asText(), row.get("view_definition").asText());
        }
        return queries;
    }

    private static Map at(RelationCatalog from, Identifier i) {
        Map values = new HashMap();
        values.put("table_catalog", from.name());
        values.put("table_schema", i.namespace()[0]);
        values.put("table_name", i.name());
        return values;
    }

    private ObjectNode note(RelationCatalog from, String schema, String object, String kind) {
        return folder.read(folder.object(IdentifierCodec.database(from.name(), schema), object, kind));
    }

    private void addView(List rows, RelationCatalog from, Identifier i) throws Exception {
        View view = from.loadView(i);
        if (name.equals("columns")) {
            addColumns(rows, at(from, i), org.apache.spark.sql.connector.catalog.CatalogV2Util.structTypeToV2Columns(view.schema(), false), null);
            return;
        }
        if (name.equals("views")) {
            addDefinition(rows, at(from, i), view.queryText(), "false");
            return;
        }
        Map values = at(from, i);
        values.put("is_insertable_into", "NO");
        values.put("table_type", "VIEW");
        values.put("commit_action", "PRESERVE");
        values.put("table_owner", owner(view.properties(), note(from, i.namespace()[0], i.name(), "table.about")));
        values.put("comment", text(view.properties().get("comment")));
        add(rows, values);
    }

    /** A row of `views`. */
    private void addDefinition(List rows, Map values, Object query, String isMaterialized) {
        values.put("view_definition", query);
        values.put("check_option", "NONE");
        values.put("is_updatable", "NO");
        values.put("is_insertable_into", "NO");
        values.put("is_materialized", isMaterialized);
        add(rows, values);
    }

    private void addTable(List rows, RelationCatalog from, Identifier i, Map queries) throws Exception {
        Table table = from.loadTable(i);
        Map values = at(from, i);
        if (name.equals("columns")) {
            addColumns(rows, values, table.columns(), table instanceof DeltaTableV2 ? ((DeltaTableV2) table).initialSnapshot() : null);
            return;
        }
        Map about = table.properties();
        // KIND_PROPERTY of dataset_properties.py.
        Object kind = about.get("lakeward.kind");
        boolean isView = "materialized_view".equals(kind);
        if (name.equals("views")) {
            if (isView) addDefinition(rows, values, queries.get(i.namespace()[0] + "." + i.name()), "true");
            return;
        }
        Object provider = about.get("provider");
        String owner = owner(about, note(from, i.namespace()[0], i.name(), "table.about"));
        boolean isExternal = "true".equals(about.get("external")) || "EXTERNAL".equals(about.get("Type"));
        values.put("table_type", kind != null ? kind.toString().toUpperCase(Locale.ROOT) : isExternal ? "EXTERNAL" : "MANAGED");
        values.put("is_insertable_into", isView ? "NO" : "YES");
        values.put("commit_action", "PRESERVE");
        values.put("table_owner", owner);
        values.put("comment", text(about.get("comment")));
        values.put("data_source_format", provider == null ? "DELTA" : provider.toString().toUpperCase(Locale.ROOT));
        values.put("storage_path", text(about.get("location")));
        values.put("created_by", owner);
        values.put("last_altered_by", owner);
        if (table instanceof DeltaTableV2) {
            DeltaTableV2 delta = (DeltaTableV2) table;
            scala.Option created = delta.initialSnapshot().metadata().createdTime();
            if (created.isDefined()) values.put("created", Long.valueOf(((Long) created.get()).longValue() * 1000));
            values.put("last_altered", Long.valueOf(delta.initialSnapshot().timestamp() * 1000));
        }
        add(rows, values);
    }

    private void addColumns(List rows, Map at, Column[] columns, Snapshot delta) {
        for (int c = 0; c < columns.length; c++) {
            Map values = new HashMap(at);
            values.putAll(InformationColumn.of(columns[c], c + 1, delta));
            add(rows, values);
        }
    }

    private static String owner(Map about, ObjectNode note) {
        if (note != null && note.hasNonNull("owner")) return note.get("owner").asText();
        Object owner = about.get("owner");
        return owner == null || owner.toString().isEmpty() ? System.getProperty("user.name") : owner.toString();
    }

    private static String text(Object value) {
        return value == null || value.toString().isEmpty() ? null : value.toString();
    }

    /** A row of the values by column; missing ones are null. */
    private void add(List rows, Map values) {
        StructField[] fields = schema().fields();
        Object[] row = new Object[fields.length];
        for (int k = 0; k < row.length; k++) {
            Object value = values.get(fields[k].name());
            row[k] = value instanceof String ? UTF8String.fromString((String) value) : value;
        }
        rows.add(new GenericInternalRow(row));
    }
}
