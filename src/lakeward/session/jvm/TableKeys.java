package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.sql.connector.catalog.TableChange;

/** The keys of a table, which are kept with its other metadata (sql/constructs/keys.py), when its columns change. */
public class TableKeys {

    public static final String KEYS = "keys";

    /** Rename the columns of keys and remove the keys of dropped ones; return whether anything changed. */
    public static boolean followColumns(ObjectNode about, TableChange[] changes) {
        if (about == null || !about.has(KEYS)) return false;
        boolean changed = false;
        for (int k = 0; k < changes.length; k++) {
            boolean renamed = changes[k] instanceof TableChange.RenameColumn;
            if (!renamed && !(changes[k] instanceof TableChange.DeleteColumn)) continue;
            String[] names = ((TableChange.ColumnChange) changes[k]).fieldNames();
            if (names.length != 1) continue;
            ArrayNode kept = WarehouseLayout.JSON.createArrayNode();
            for (int n = 0; n < about.get(KEYS).size(); n++) {
                JsonNode key = (JsonNode) about.get(KEYS).get(n);
                boolean isMeant = false;
                ArrayNode columns = WarehouseLayout.JSON.createArrayNode();
                for (int c = 0; c < key.get("columns").size(); c++) {
                    String column = ((JsonNode) key.get("columns").get(c)).asText();
                    boolean same = column.equalsIgnoreCase(names[0]);
                    isMeant = isMeant || same;
                    columns.add(same && renamed ? ((TableChange.RenameColumn) changes[k]).newName() : column);
                }
                changed = changed || isMeant;
                if (isMeant && !renamed) continue;
                if (isMeant) ((ObjectNode) key).set("columns", columns);
                kept.add(key);
            }
            about.set(KEYS, kept);
        }
        return changed;
    }
}
