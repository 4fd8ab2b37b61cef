package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** The definitions of views: a JSON file for each. */
public class ViewStore {

    private final WarehouseLayout files;

    ViewStore(WarehouseLayout files) {
        this.files = files;
    }

    /**
     * The view of a file; null if none exists. Queries need STRING with the declared type in its metadata, as columns
     * of tables have it: Spark has no encoder of CHAR and VARCHAR.
     */
    View read(Path file, boolean forQueries) {
        ObjectNode json = files.read(file);
        if (json == null) return null;
        StructType schema = (StructType) DataType.fromJson(json.get("schema").asText());
        View.Builder b = new View.Builder();
        b.withSchema(forQueries ? CharVarcharUtils.replaceCharVarcharWithStringInSchema(schema) : schema);
        b.withProperties(ObjectDefinitions.javaMap(json.get("properties")));
        b.withQueryText(json.get("query").asText());
        b.withCurrentCatalog(json.get("currentCatalog").asText());
        b.withCurrentNamespace(strings((ArrayNode) json.get("currentNamespace")));
        b.withSqlConfigs(ObjectDefinitions.javaMap(json.get("settings")));
        b.withSchemaMode(json.get("schemaMode").isNull() ? null : json.get("schemaMode").asText());
        b.withQueryColumnNames(strings((ArrayNode) json.get("queryColumns")));
        return b.build();
    }

    /** The view with other columns. */
    static View withColumns(View view, StructType columns) {
        View.Builder b = new View.Builder();
        b.withSchema(columns);
        b.withProperties(view.properties());
        b.withQueryText(view.queryText());
        b.withCurrentCatalog(view.currentCatalog());
        b.withCurrentNamespace(view.currentNamespace());
        b.withSqlConfigs(view.sqlConfigs());
        b.withSchemaMode(view.schemaMode());
        b.withQueryColumnNames(view.queryColumnNames());
        return b.build();
    }

    void write(Path file, View v) {
        ObjectNode json = WarehouseLayout.JSON.createObjectNode();
        json.put("query", v.queryText());
        json.put("schema", v.schema().json());
        json.put("currentCatalog", v.currentCatalog());
        json.set("currentNamespace", WarehouseLayout.JSON.valueToTree(v.currentNamespace()));
        json.set("settings", WarehouseLayout.JSON.valueToTree(v.sqlConfigs()));
        json.put("schemaMode", v.schemaMode());
        json.set("queryColumns", WarehouseLayout.JSON.valueToTree(v.queryColumnNames()));
        json.set("properties", WarehouseLayout.JSON.valueToTree(v.properties()));
        files.write(file, json);
    }

    /** Replace the columns of a view, if it exists. */
    void writeColumns(Path file, StructType columns) {
        ObjectNode json = files.read(file);
        if (json == null) return;
        json.put("schema", CharVarcharUtils.getRawSchema(columns).json());
        files.write(file, json);
    }

    private static String[] strings(ArrayNode json) {
        String[] out = new String[json.size()];
        for (int k = 0; k < out.length; k++) out[k] = ((JsonNode) json.get(k)).asText();
        return out;
    }
}
