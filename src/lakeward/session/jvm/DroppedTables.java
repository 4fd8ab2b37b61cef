package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * Dropped tables of Unity Catalog. They stay in the folder ".dropped" of their schema for a recovery period: KEY.json has
 * name, definition and metadata, the folder KEY has the files of a managed table. UNDROP takes them back
 * (sql/constructs/dropped_tables.py).
 *
 * A managed table is dropped when its folder is renamed. A kill before that leaves a record without files, which says nothing;
 * a kill after that leaves the definition and metadata of a table without files, which `forget` removes.
 */
public class DroppedTables {

    private static final String FOLDER = ".dropped";
    private static final long DAY = 24L * 60 * 60 * 1000;
    private static final long RETENTION = 7 * DAY;
    /** Another process may be between the record and the rename. */
    private static final long PATIENCE = 60L * 60 * 1000;

    /** True for a table whose files are kept. */
    static boolean isKept(WarehouseLayout layout, String database, String table, Path place) {
        if (isForgotten(database, table)) return false;
        return place.toUri().getPath().equals(layout.table(database, table).toUri().getPath()) && layout.isFolder(place);
    }

    private static boolean isForgotten(String database, String table) {
        return IdentifierCodec.catalog(database).equals("hive_metastore") || PrivateTables.isHidden(table);
    }

    /** Keeps the definition and metadata of an external table, whose files stay where they are. */
    static void keepExternal(WarehouseLayout layout, String database, String table) {
        if (isForgotten(database, table)) return;
        write(layout, database, UUID.randomUUID().toString(), record(layout, database, table).put("external", true));
    }

    /** Moves the files of a table away; its definition and metadata are in the record, and may be removed. */
    static void move(WarehouseLayout layout, String database, String table, Path place) {
        String key = UUID.randomUUID().toString();
        Path folder = write(layout, database, key, record(layout, database, table).put("folder", place.getName()).put("external", false));
        layout.rename(place, new Path(folder, key));
    }

    private static Path write(WarehouseLayout layout, String database, String key, ObjectNode record) {
        Path folder = new Path(layout.schema(database), FOLDER);
        layout.makeFolder(folder);
        layout.write(new Path(folder, key + ".json"), record);
        return folder;
    }

    private static ObjectNode record(WarehouseLayout layout, String database, String table) {
        ObjectNode record = WarehouseLayout.JSON.createObjectNode();
        String name = table.toLowerCase(Locale.ROOT);
        record.put("name", name).put("folder", name).put("dropped", System.currentTimeMillis());
        ObjectNode files = record.putObject("objects");
        String[] kinds = new String[] {"table", "table.about"};
        for (int i = 0; i < kinds.length; i++) {
            Path file = layout.object(database, table, kinds[i]);
            ObjectNode content = layout.read(file);
            if (content != null) files.set(file.getName(), content);
        }
        return record;
    }

    /** Removes metadata of a table that does not exist, which an interrupted DROP left: a new one must not get it. */
    static void forget(WarehouseLayout layout, String database, String table) {
        Path about = layout.object(database, table, "table.about");
        if (layout.exists(about) && layout.isFolder(new Path(layout.schema(database), FOLDER))) layout.remove(about);
    }

    /** Removes the tables of a catalog whose recovery period has ended. */
    static void removeExpired(WarehouseLayout layout, String database) {
        Path catalog = layout.schema(database).getParent();
        List schemas = layout.folders(catalog);
        for (int s = 0; s < schemas.size(); s++) {
            Path schema = new Path(catalog, (String) schemas.get(s));
            FileStatus[] entries = layout.list(new Path(schema, FOLDER));
            if (entries.length == 0) continue;
            long retention = retention(layout, catalog, schema);
            Set names = new HashSet();
            for (int i = 0; i < entries.length; i++) names.add(entries[i].getPath().getName());
            for (int i = 0; i < entries.length; i++) {
                String name = entries[i].getPath().getName();
                if (name.endsWith(".json") && !name.startsWith(".")) removeExpired(layout, entries[i].getPath(), names, retention);
            }
        }
    }

    private static void removeExpired(WarehouseLayout layout, Path file, Set names, long retention) {
        ObjectNode record = layout.read(file);
        if (record == null || record.path("restoring").asBoolean(false)) return;
        String key = file.getName().substring(0, file.getName().length() - ".json".length());
        long age = System.currentTimeMillis() - record.path("dropped").asLong();
        boolean isWhole = names.contains(key) || record.path("external").asBoolean(false);
        if (age <= (isWhole ? retention : PATIENCE)) return;
        layout.remove(new Path(file.getParent(), key));
        layout.remove(file);
    }

    /** RETAIN DROPPED of the schema, else of the catalog. */
    private static long retention(WarehouseLayout layout, Path catalog, Path schema) {
        long own = retention(layout.read(new Path(schema, ".objects/.schema.about.json")));
        long of = own >= 0 ? own : retention(layout.read(new Path(catalog, ".objects/.catalog.about.json")));
        return of >= 0 ? of : RETENTION;
    }

    private static long retention(ObjectNode about) {
        JsonNode given = about == null ? null : about.get("retain_dropped");
        String[] words = given == null ? new String[0] : given.asText().trim().toLowerCase(Locale.ROOT).split("\\s+");
        if (words.length != 2 || !words[0].matches("\\d{1,9}")) return -1;
        long unit = words[1].startsWith("hour") ? DAY / 24 : words[1].startsWith("week") ? 7 * DAY : DAY;
        return Long.parseLong(words[0]) * unit;
    }
}
