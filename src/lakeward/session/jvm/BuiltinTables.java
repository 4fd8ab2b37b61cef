package lakeward;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;

/**
 * Built-in settings and tables of a workspace. The tables (samples.*, system.*) are written as Delta tables
 * when a query first resolves their name. A definition is a file
 * &lt;catalog&gt;/&lt;schema&gt;/&lt;table&gt; that ends in .sql (a query) or in .ddl (columns of an empty table).
 */
public class BuiltinTables {

    private static volatile File definitions;

    public static void use(String folder) {
        definitions = new File(folder);
    }

    /** Set missing settings in the context, and so in all later sessions, and in this session. */
    public static void settings(SparkSession session, String lines) {
        SparkConf context = session.sparkContext().conf();
        String[] all = lines.split("\n");
        for (int k = 0; k < all.length; k++) {
            String key = all[k].substring(0, all[k].indexOf('\t'));
            String value = all[k].substring(all[k].indexOf('\t') + 1);
            if (!context.contains(key)) context.set(key, value);
            if (!session.sessionState().conf().contains(key)) session.sessionState().conf().setConfString(key, context.get(key));
        }
    }

    static List schemas(String catalog) {
        return names(definitions == null ? null : new File(definitions, catalog), false);
    }

    static boolean hasSchema(String catalog, String schema) {
        return definitions != null && schemas(catalog).contains(schema.toLowerCase(Locale.ROOT));
    }

    static List tables(String catalog, String schema) {
        if (!hasSchema(catalog, schema)) return new ArrayList();
        return names(new File(new File(definitions, catalog), schema.toLowerCase(Locale.ROOT)), true);
    }

    static boolean hasTable(String catalog, Identifier i) {
        return i.namespace().length == 1 && !isSeeded(catalog, i) && tables(catalog, i.namespace()[0]).contains(i.name().toLowerCase(Locale.ROOT));
    }

    /** Whether the project declares a seed for the table: the seed replaces the built-in table. */
    private static boolean isSeeded(String catalog, Identifier i) {
        String declared = SQLConf.get().getConfString("lakeward.seeds.declared", "");
        String name = catalog + "." + i.namespace()[0] + "." + i.name();
        return ("," + declared + ",").contains("," + name.toLowerCase(Locale.ROOT) + ",");
    }

    private static List names(File folder, boolean withoutEnding) {
        List found = new ArrayList();
        String[] entries = folder == null ? null : folder.list();
        for (int k = 0; entries != null && k < entries.length; k++) {
            int dot = entries[k].lastIndexOf('.');
            if (withoutEnding ? dot > 0 : dot < 0) found.add(withoutEnding ? entries[k].substring(0, dot) : entries[k]);
        }
        Collections.sort(found);
        return found;
    }

    /** Create the table at `place` atomically; do nothing if it exists or is not defined. */
    static synchronized void make(String catalog, Identifier i, WarehouseLayout folder, String database) {
        if (!hasTable(catalog, i)) return;
        Path place = folder.table(database, i.name());
        if (folder.isDelta(place) || folder.exists(folder.object(database, i.name(), "table"))) return;
        folder.makeFolder(folder.schema(database));
        File schema = new File(new File(definitions, catalog), i.namespace()[0].toLowerCase(Locale.ROOT));
        Path aside = new Path(place.getParent(), ".making-" + UUID.randomUUID());
        Making making = new Making((SparkSession) org.apache.spark.sql.SparkSession.active(), new File(schema, i.name().toLowerCase(Locale.ROOT)), aside.toString());
        // In another thread: the analysis that resolves the table keeps thread-local state.
        Thread thread = new Thread(making, "lakeward-provided");
        thread.setDaemon(true);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + catalog + "." + i + " was made", e);
        }
        if (making.failure != null) {
            folder.remove(aside);
            throw new IllegalStateException("Cannot make the table " + catalog + "." + i, making.failure);
        }
        if (folder.isDelta(place)) folder.remove(aside);
        else folder.rename(aside, place);
    }

    public static class Making implements Runnable {
        private final SparkSession caller;
        private final File definition;
        private final String target;
        Throwable failure;

        public Making(SparkSession caller, File definition, String target) {
            this.caller = caller;
            this.definition = definition;
            this.target = target;
        }

        public void run() {
            try {
                SparkSession session = caller.newSession();
                org.apache.spark.sql.classic.SparkSession.setActiveSession(session);
                session.sessionState().conf().setConfString("spark.sql.session.timeZone", "Etc/UTC");
                session.sessionState().conf().setConfString("spark.sql.ansi.enabled", "false");
                Dataset rows = rows(session);
                rows.coalesce(1).write().format("delta").save(target);
            } catch (Throwable e) {
                failure = e;
            }
        }

        private Dataset rows(SparkSession session) throws IOException {
            File query = new File(definition.getPath() + ".sql");
            if (query.exists()) return (Dataset) session.sql(text(query));
            StructType columns = StructType.fromDDL(text(new File(definition.getPath() + ".ddl")));
            return (Dataset) session.createDataFrame(new ArrayList(), columns);
        }

        private static String text(File file) throws IOException {
            return new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
        }
    }
}
