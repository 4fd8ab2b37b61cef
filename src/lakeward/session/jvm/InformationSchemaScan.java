package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.RelationCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownFilters;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.sources.EqualTo;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.In;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Computes the rows of a relation; of objects that a filter excludes, nothing is read. */
public class InformationSchemaScan implements LocalScan, SupportsPushDownFilters {

    public static final String SCHEMA = "information_schema";
    private static final String EVERYTHING = "system";

    private final RelationCatalog catalog;
    private final WarehouseLayout folder;
    private final String name;
    private final StructType schema;
    private final Map selecting;
    /** The owner of information schemas. */
    private final String owner;
    // The names that rows may have; null for any.
    private Set catalogNames, schemaNames, tableNames;
    private Filter[] used = new Filter[0];

    InformationSchemaScan(RelationCatalog catalog, WarehouseLayout folder, String name, StructType schema, Map selecting, String owner) {
        this.catalog = catalog;
        this.folder = folder;
        this.name = name;
        this.schema = schema;
        this.owner = owner;
        this.selecting = selecting;
    }

    public StructType readSchema() {
        return schema;
    }

    public Scan build() {
        return this;
    }

    /** Takes names of catalogs, schemas and tables from the filters; Spark evaluates all filters on the rows, too. */
    public Filter[] pushFilters(Filter[] filters) {
        List taken = new ArrayList();
        for (int k = 0; k < filters.length; k++) if (takes(filters[k])) taken.add(filters[k]);
        used = (Filter[]) taken.toArray(new Filter[0]);
        return filters;
    }

    public Filter[] pushedFilters() {
        return used;
    }

    private boolean takes(Filter filter) {
        String column;
        Object[] values;
        if (filter instanceof EqualTo) {
            column = ((EqualTo) filter).attribute();
            values = new Object[] {((EqualTo) filter).value()};
        } else if (filter instanceof In) {
            column = ((In) filter).attribute();
            values = ((In) filter).values();
        } else {
            return false;
        }
        Object selected = selecting.get(name + "." + column);
        Set wanted = new HashSet(Arrays.asList(values));
        if ("catalogs".equals(selected)) catalogNames = both(catalogNames, wanted);
        else if ("schemas".equals(selected)) schemaNames = both(schemaNames, wanted);
        else if ("tables".equals(selected)) tableNames = both(tableNames, wanted);
        else return false;
        return true;
    }

    private static Set both(Set known, Set wanted) {
        if (known == null) return wanted;
        Set common = new HashSet(known);
        common.retainAll(wanted);
        return common;
    }

    private static boolean holds(Set names, String name) {
        return names == null || names.contains(name);
    }

    public InternalRow[] rows() {
        List rows = new ArrayList();
        boolean isOwn = name.equals("schemata") || name.equals("tables") || name.equals("views") || name.equals("columns");
        List catalogs = catalogs();
        for (int c = 0; c < catalogs.size(); c++) {
            RelationCatalog each = (RelationCatalog) catalogs.get(c);
            if (!holds(catalogNames, each.name())) continue;
            try {
                if (isOwn) addAll(rows, each);
                else addAsked(rows, each.name());
            } catch (Exception e) {
                throw WarehouseCatalog.sneak(e);
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
    private JsonNode rowsOfPython(String relation, String catalog) throws IOException {
        ObjectNode call = WarehouseLayout.JSON.createObjectNode();
        call.put("name", "information_schema");
        ObjectNode arguments = call.putObject("arguments").put("relation", relation).put("catalog", catalog);
        arguments.set("schemas", WarehouseLayout.JSON.valueToTree(schemaNames));
        arguments.set("tables", WarehouseLayout.JSON.valueToTree(tableNames));
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
            StructField[] fields = schema.fields();
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
            if (!holds(schemaNames, schemas[s][0])) continue;
            try {
                if (name.equals("schemata")) addSchema(rows, from, schemas[s]);
                else addObjects(rows, from, schemas[s], queries);
            } catch (AnalysisException gone) {
                // Another process has dropped the schema meanwhile.
            }
        }
    }

    private void addSchema(List rows, RelationCatalog from, String[] schema) throws Exception {
        Map about = ((SupportsNamespaces) from).loadNamespaceMetadata(schema);
        Map values = new HashMap();
        values.put("catalog_name", from.name());
        values.put("schema_name", schema[0]);
        values.put("schema_owner", owner(about, note(from, schema[0], "", "schema.about")));
        values.put("comment", text(about.get("comment")));
        add(rows, values);
    }

    private void addObjects(List rows, RelationCatalog from, String[] schema, Map queries) throws Exception {
        // The views of this schema have no stored definition that could be read.
        boolean isOwn = schema[0].equals(SCHEMA);
        Identifier[] views = from.listViews(schema);
        Identifier[] tables = from.listTables(schema);
        for (int k = 0; k < views.length; k++) addObject(rows, from, views[k], !isOwn, queries);
        for (int k = 0; k < tables.length; k++) addObject(rows, from, tables[k], false, queries);
    }

    private void addObject(List rows, RelationCatalog from, Identifier i, boolean isView, Map queries) throws Exception {
        if (!holds(tableNames, i.name())) return;
        try {
            if (isView) addView(rows, from, i);
            else addTable(rows, from, i, queries);
        } catch (AnalysisException gone) {
            // Another process has dropped it meanwhile.
        }
    }

    /** Queries of materialized views, by schema and name. */
    private Map materializedQueries(String catalog) throws IOException {
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
        String owner = owner(view.properties(), note(from, i.namespace()[0], i.name(), "table.about"));
        addViewEntry(rows, at(from, i), owner, text(view.properties().get("comment")));
    }

    /** A view's row of `tables`. */
    private void addViewEntry(List rows, Map values, String owner, String comment) {
        values.put("is_insertable_into", "NO");
        values.put("table_type", "VIEW");
        values.put("commit_action", "PRESERVE");
        values.put("table_owner", owner);
        values.put("comment", comment);
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
        if (i.namespace()[0].equals(SCHEMA)) {
            if (name.equals("tables")) addViewEntry(rows, values, owner, null);
            return;
        }
        Map about = table.properties();
        Object kind = about.get(DatasetChanges.KIND);
        boolean isView = DatasetChanges.VIEW.equals(kind);
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
        StructField[] fields = schema.fields();
        Object[] row = new Object[fields.length];
        for (int k = 0; k < row.length; k++) {
            Object value = values.get(fields[k].name());
            row[k] = value instanceof String ? UTF8String.fromString((String) value) : value;
        }
        rows.add(new GenericInternalRow(row));
    }
}
