package lakeward;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.V1Write;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.execution.command.DataWritingCommand$;
import org.apache.spark.sql.sources.InsertableRelation;
import org.apache.spark.sql.types.StructType;

/**
 * A table of another format than Delta's while it is made or replaced. It gets the files of its query first, and becomes
 * a table at the commit. A managed one can be made of a query in hive_metastore alone, as on the platform.
 */
abstract class NonDeltaTable implements StagedTable, SupportsWrite {

    private static final String OPTION = "option.";

    private final Identifier identifier;
    private final StructType schema;
    private final Transform[] partitions;
    private final Map properties;
    private final boolean isNew;
    private final String managed;

    /** `managed` is the folder of a managed table that can be made of a query; null for none. */
    NonDeltaTable(Identifier identifier, StructType schema, Transform[] partitions, Map properties, boolean isNew, String managed) {
        this.identifier = identifier;
        this.schema = schema;
        this.partitions = partitions;
        this.properties = new HashMap(properties);
        this.isNew = isNew;
        this.managed = managed;
    }

    /** Makes or replaces the table with these properties, without rows. */
    abstract StagedTable made(Map properties);

    static boolean is(Map properties) {
        String format = (String) properties.get("provider");
        return format != null && !format.equalsIgnoreCase("delta");
    }

    /** A table without a format of its own that is made like one of another format has the format and the options of that one. */
    static TableInfo like(TableInfo info, Table source) {
        if (info.properties().containsKey("provider") || !is(source.properties())) return info;
        Map properties = new HashMap(info.properties());
        properties.put("provider", source.properties().get("provider"));
        for (Object each : source.properties().entrySet()) {
            Map.Entry option = (Map.Entry) each;
            String key = (String) option.getKey();
            if (!key.startsWith(OPTION) || key.equals(OPTION + "path")) continue;
            // As Spark writes the options of CREATE TABLE.
            properties.put(key, option.getValue());
            properties.put(key.substring(OPTION.length()), option.getValue());
        }
        TableInfo.Builder like = new TableInfo.Builder();
        like.withColumns(info.columns());
        like.withPartitions(info.partitions());
        like.withProperties(properties);
        like.withConstraints(info.constraints());
        return like.build();
    }

    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        if (folder() != null) {
            // Readers of the table need the options of its writer, such as the header of CSV.
            Iterator all = info.options().asCaseSensitiveMap().entrySet().iterator();
            while (all.hasNext()) {
                Map.Entry option = (Map.Entry) all.next();
                if (!option.getKey().equals("path")) properties.putIfAbsent(OPTION + option.getKey(), option.getValue());
            }
            return new Files(this);
        }
        throw PythonSqlBridge.error("UNSUPPORTED_MANAGED_TABLE_CREATION", "0AKDE", "The table " + identifier.name() + " cannot be made of a query in the format " + properties.get("provider")
            + ". Use delta, or give the table a path of its own.");
    }

    /** Where the files are written; null for a table that cannot be made of a query. */
    private String folder() {
        if (properties.get("location") != null) return (String) properties.get("location");
        // Spark refuses a managed table whose folder exists: the files are moved there at the commit.
        return managed == null ? null : new Path(new Path(managed).getParent(), "." + new Path(managed).getName() + ".staged").toString();
    }

    /** The rows of the query as files at the table's location, in the place of those that are there. */
    public static class Files implements WriteBuilder, SupportsTruncate, V1Write, InsertableRelation {
        private final NonDeltaTable table;

        Files(NonDeltaTable table) {
            this.table = table;
        }

        public WriteBuilder truncate() {
            return this;
        }

        public Write build() {
            return this;
        }

        public InsertableRelation toInsertableRelation() {
            return this;
        }

        public void insert(Dataset rows, boolean overwrite) {
            Path folder = new Path(table.folder());
            if (table.isNew && !table.isStaged()) DataWritingCommand$.MODULE$.assertEmptyRootPath(folder.toUri(), SaveMode.ErrorIfExists, conf());
            requireOthers(rows.inputFiles(), table.isStaged() ? new Path(table.managed) : folder);
            DataFrameWriter writer = rows.write().format((String) table.properties.get("provider")).mode("overwrite");
            writer.options(table.options());
            String[] columns = new String[table.partitions.length];
            for (int i = 0; i < columns.length; i++) columns[i] = table.partitions[i].references()[0].fieldNames()[0];
            if (columns.length > 0) writer.partitionBy(columns);
            writer.save(folder.toString());
        }

        /** The files that are read must not be those that are replaced. */
        private static void requireOthers(String[] files, Path folder) {
            for (int i = 0; i < files.length; i++) {
                if (!new Path(files[i]).toUri().getPath().startsWith(folder.toUri().getPath() + "/")) continue;
                throw PythonSqlBridge.error("UNSUPPORTED_OVERWRITE.PATH", "42902", "Can't overwrite the target that is also being read from. The target path is " + folder + ".");
            }
        }
    }

    private Map options() {
        Map out = new HashMap();
        Iterator all = properties.keySet().iterator();
        while (all.hasNext()) {
            String key = (String) all.next();
            if (key.startsWith(OPTION)) out.put(key.substring(OPTION.length()), properties.get(key));
        }
        return out;
    }

    private boolean isStaged() {
        return managed != null && properties.get("location") == null;
    }

    private static Configuration conf() {
        return ((SparkSession) org.apache.spark.sql.SparkSession.active()).sessionState().newHadoopConf();
    }

    public void commitStagedChanges() {
        made(properties).commitStagedChanges();
        if (!isStaged()) return;
        try {
            Path target = new Path(managed);
            FileSystem files = target.getFileSystem(conf());
            if (!files.exists(new Path(folder()))) return;
            files.delete(target, true);
            if (!files.rename(new Path(folder()), target)) throw new IOException("The files of " + name() + " are in " + folder() + ".");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void abortStagedChanges() {
        if (!isStaged()) return;
        try {
            Path staged = new Path(folder());
            staged.getFileSystem(conf()).delete(staged, true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String name() {
        return identifier.name();
    }

    public StructType schema() {
        return schema;
    }

    public Map properties() {
        return properties;
    }

    public Transform[] partitioning() {
        return partitions;
    }

    public Set capabilities() {
        return EnumSet.of(TableCapability.BATCH_WRITE, TableCapability.V1_BATCH_WRITE, TableCapability.TRUNCATE, TableCapability.ACCEPT_ANY_SCHEMA);
    }
}
