package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
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
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/** The schema information_schema of a catalog: what is in the catalog, as rows made when they are asked for. */
public class InformationSchema implements SupportsRead, ScanBuilder, LocalScan {

    public static final String NAME = "information_schema";
    private static final String OBJECT = "table_catalog STRING, table_schema STRING, table_name STRING, ";

    private final RelationCatalog catalog;
    private final String name;
    private final String ddl;

    private InformationSchema(RelationCatalog catalog, String name, String ddl) {
        this.catalog = catalog;
        this.name = name;
        this.ddl = ddl;
    }

    static boolean holds(String[] namespace) {
        return namespace.length == 1 && namespace[0].equalsIgnoreCase(NAME);
    }

    /** The relation of that name; null when the schema has none. */
    static Table find(RelationCatalog catalog, Identifier i) {
        if (!holds(i.namespace())) return null;
        String name = i.name().toLowerCase(Locale.ROOT);
        String ddl = null;
        if (name.equals("schemata")) ddl = "catalog_name STRING, schema_name STRING, schema_owner STRING, comment STRING";
        if (name.equals("tables")) ddl = OBJECT + "table_type STRING, is_insertable_into STRING, table_owner STRING, comment STRING, data_source_format STRING, storage_path STRING";
        if (name.equals("views")) ddl = OBJECT + "view_definition STRING";
        if (name.equals("columns")) ddl = OBJECT + "column_name STRING, ordinal_position INT, column_default STRING, is_nullable STRING, full_data_type STRING, data_type STRING, comment STRING";
        return ddl == null ? null : new InformationSchema(catalog, name, ddl);
    }

    static String[] names() {
        return new String[] {"columns", "schemata", "tables", "views"};
    }

    public String name() {
        return NAME + "." + name;
    }

    public StructType schema() {
        return StructType.fromDDL(ddl);
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
        try {
            String[][] schemas = ((SupportsNamespaces) catalog).listNamespaces();
            for (int s = 0; s < schemas.length; s++) {
                if (name.equals("schemata")) {
                    Map about = ((SupportsNamespaces) catalog).loadNamespaceMetadata(schemas[s]);
                    add(rows, new Object[] {catalog.name(), schemas[s][0], owner(about), text(about.get("comment"))});
                    continue;
                }
                Identifier[] views = catalog.listViews(schemas[s]);
                for (int k = 0; k < views.length; k++) addView(rows, views[k]);
                Identifier[] tables = name.equals("views") ? new Identifier[0] : catalog.listTables(schemas[s]);
                for (int k = 0; k < tables.length; k++) addTable(rows, tables[k]);
            }
        } catch (Exception gone) {
            // What another process drops meanwhile is not there: the rows so far are the answer.
            if (!(gone instanceof org.apache.spark.sql.AnalysisException)) throw WarehouseCatalog.sneak(gone);
        }
        return (InternalRow[]) rows.toArray(new InternalRow[0]);
    }

    private void addView(List rows, Identifier i) throws Exception {
        View view = catalog.loadView(i);
        String[] at = new String[] {catalog.name(), i.namespace()[0], i.name()};
        if (name.equals("views")) {
            add(rows, new Object[] {at[0], at[1], at[2], view.queryText()});
        } else if (name.equals("tables")) {
            add(rows, new Object[] {at[0], at[1], at[2], "VIEW", "NO", owner(view.properties()), text(view.properties().get("comment")), null, null});
        } else {
            addColumns(rows, at, org.apache.spark.sql.connector.catalog.CatalogV2Util.structTypeToV2Columns(view.schema(), false));
        }
    }

    private void addTable(List rows, Identifier i) throws Exception {
        Table table = catalog.loadTable(i);
        String[] at = new String[] {catalog.name(), i.namespace()[0], i.name()};
        if (name.equals("columns")) {
            addColumns(rows, at, table.columns());
            return;
        }
        Map about = table.properties();
        String kind = "true".equals(about.get("external")) || "EXTERNAL".equals(about.get("Type")) ? "EXTERNAL" : "MANAGED";
        Object provider = about.get("provider");
        add(rows, new Object[] {at[0], at[1], at[2], kind, "YES", owner(about), text(about.get("comment")),
            provider == null ? "DELTA" : provider.toString().toUpperCase(Locale.ROOT), text(about.get("location"))});
    }

    private static void addColumns(List rows, String[] at, Column[] columns) {
        for (int c = 0; c < columns.length; c++) {
            Column column = columns[c];
            String type = column.dataType().sql();
            int end = 0;
            while (end < type.length() && (Character.isLetterOrDigit(type.charAt(end)) || type.charAt(end) == '_')) end++;
            String value = column.defaultValue() == null ? null : column.defaultValue().getSql();
            add(rows, new Object[] {at[0], at[1], at[2], column.name(), Integer.valueOf(c + 1), value,
                column.nullable() ? "YES" : "NO", type.toLowerCase(Locale.ROOT), type.substring(0, end), column.comment()});
        }
    }

    private static String owner(Map about) {
        Object owner = about.get("owner");
        return owner == null || owner.toString().isEmpty() ? System.getProperty("user.name") : owner.toString();
    }

    private static String text(Object value) {
        return value == null || value.toString().isEmpty() ? null : value.toString();
    }

    private static void add(List rows, Object[] values) {
        for (int k = 0; k < values.length; k++) {
            if (values[k] instanceof String) values[k] = UTF8String.fromString((String) values[k]);
        }
        rows.add(new GenericInternalRow(values));
    }
}
