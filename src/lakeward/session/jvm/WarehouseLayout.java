package lakeward;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * The warehouse folder as the catalog: &lt;root&gt;/&lt;catalog&gt;/&lt;schema&gt;/&lt;table&gt;, and next to the tables a
 * folder ".objects" with one JSON file for each object without a Delta log here (views, external tables,
 * other formats, functions, a schema's properties). Nothing is cached, so that all processes see the same state.
 */
public class WarehouseLayout {

    public static final ObjectMapper JSON = new ObjectMapper();
    private static final String OBJECTS = ".objects";

    final FileSystem files;
    private final String declared;
    private final Configuration hadoop;

    public WarehouseLayout(String warehouse, Configuration conf) {
        hadoop = conf;
        declared = warehouse;
        try {
            files = of(new Path(warehouse));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The file system of a path: tables of a schema with a LOCATION are outside of the warehouse (dbfs:/…, s3://…). */
    private FileSystem of(Path path) throws IOException {
        FileSystem fs = path.getFileSystem(hadoop);
        // Checksum side files would go stale when a JSON file is replaced by a rename.
        return fs instanceof LocalFileSystem ? ((LocalFileSystem) fs).getRaw() : fs;
    }

    Path root() {
        return files.makeQualified(new Path(LakehouseSettings.warehouse(declared)));
    }

    /** Encode a name as that of one folder or file: no path separators, no scheme, not hidden. */
    private static String own(String name) {
        String single = name.replace("/", "%2F").replace(":", "%3A");
        return single.startsWith(".") ? "%2E" + single.substring(1) : single;
    }

    Path schema(String database) {
        return new Path(new Path(root(), own(IdentifierCodec.catalog(database))), own(IdentifierCodec.schema(database)));
    }

    Path table(String database, String table) {
        return new Path(schema(database), own(table.toLowerCase(java.util.Locale.ROOT)));
    }

    /** The folder of a managed table that is described by a file: in the schema's LOCATION if it has one. */
    Path managed(String database, String table) {
        ObjectNode json = read(object(database, "", "schema"));
        if (json == null || !json.has("location")) return table(database, table);
        return new Path(new Path(URI.create(json.get("location").asText())), table(database, table).getName());
    }

    /** The file with what is kept about the catalog of a schema (object_metadata.py). */
    Path catalogObject(String database) {
        return new Path(new Path(schema(database).getParent(), OBJECTS), ".catalog.about.json");
    }

    Path object(String database, String name, String kind) {
        return new Path(new Path(schema(database), OBJECTS), own(name.toLowerCase(java.util.Locale.ROOT)) + "." + kind + ".json");
    }

    /**
     * The link "default/X.db" that shows the folder of a schema X of hive_metastore in dbfs:/user/hive/warehouse;
     * null for other schemas. The folder "default" is that storage (session/paths.py).
     */
    private java.nio.file.Path hiveLink(String database) {
        String name = own(IdentifierCodec.schema(database));
        if (!IdentifierCodec.catalog(database).equals("hive_metastore") || name.equals("default")) return null;
        if (!(files instanceof RawLocalFileSystem)) return null;
        java.io.File catalog = ((RawLocalFileSystem) files).pathToFile(schema(database).getParent());
        return new java.io.File(new java.io.File(catalog, "default"), name + ".db").toPath();
    }

    void linkSchema(String database) {
        java.nio.file.Path link = hiveLink(database);
        if (link == null) return;
        try {
            Files.createDirectories(link.getParent(), new FileAttribute[0]);
            Files.createSymbolicLink(link, Paths.get("..", new String[] {schema(database).getName()}), new FileAttribute[0]);
        } catch (IOException exists) {
            return;
        }
    }

    void unlinkSchema(String database) {
        java.nio.file.Path link = hiveLink(database);
        try {
            if (link != null && Files.isSymbolicLink(link)) Files.delete(link);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The names of the schemas of a catalog that have volumes: the folders of /Volumes/CATALOG, in any case of letters. */
    TreeSet volumeSchemas(String catalog) {
        TreeSet names = new TreeSet();
        FileStatus[] catalogs = list(new Path("/Volumes"));
        for (int c = 0; c < catalogs.length; c++) {
            if (!catalogs[c].getPath().getName().equalsIgnoreCase(catalog)) continue;
            List schemas = folders(catalogs[c].getPath());
            for (int s = 0; s < schemas.size(); s++) names.add(((String) schemas.get(s)).toLowerCase(java.util.Locale.ROOT));
        }
        return names;
    }

    boolean isFolder(Path path) {
        try {
            return files.getFileStatus(path).isDirectory();
        } catch (FileNotFoundException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean exists(Path path) {
        try {
            return files.exists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A Delta table exists at `path` if its log holds a commit or a checkpoint. */
    boolean isDelta(Path path) {
        Path log = new Path(path, "_delta_log");
        if (exists(new Path(log, "00000000000000000000.json"))) return true;
        FileStatus[] entries = list(log);
        for (int i = 0; i < entries.length; i++) {
            String name = entries[i].getPath().getName();
            if (!name.startsWith(".") && (name.endsWith(".json") || name.endsWith(".checkpoint.parquet"))) return true;
        }
        return false;
    }

    FileStatus[] list(Path path) {
        try {
            return files.listStatus(path);
        } catch (FileNotFoundException e) {
            return new FileStatus[0];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The names of the folders in `path` that are not hidden, sorted. */
    List folders(Path path) {
        List names = new ArrayList();
        FileStatus[] entries = list(path);
        for (int i = 0; i < entries.length; i++) {
            String name = entries[i].getPath().getName();
            if (entries[i].isDirectory() && !name.startsWith(".")) names.add(name);
        }
        Collections.sort(names);
        return names;
    }

    /** The names of the objects of `kind` in a schema, sorted. */
    List objects(String database, String kind) {
        List names = new ArrayList();
        String ending = "." + kind + ".json";
        FileStatus[] entries = list(new Path(schema(database), OBJECTS));
        for (int i = 0; i < entries.length; i++) {
            String name = entries[i].getPath().getName();
            if (name.endsWith(ending) && !name.startsWith(".")) names.add(name.substring(0, name.length() - ending.length()));
        }
        Collections.sort(names);
        return names;
    }

    /** The names of the tables of a schema, sorted: folders with a Delta log, and described objects. */
    List tables(String database) {
        TreeSet all = new TreeSet();
        List described = objects(database, "table");
        for (int i = 0; i < described.size(); i++) {
            if (!PrivateTables.isHidden((String) described.get(i))) all.add(described.get(i));
        }
        List places = folders(schema(database));
        for (int i = 0; i < places.size(); i++) {
            String name = (String) places.get(i);
            if (!PrivateTables.isHidden(name) && isDelta(new Path(schema(database), name))) all.add(name);
        }
        return new ArrayList(all);
    }

    ObjectNode read(Path path) {
        try {
            InputStream in = files.open(path);
            try {
                return (ObjectNode) JSON.readTree(in);
            } finally {
                in.close();
            }
        } catch (FileNotFoundException e) {
            return null;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + path + ": " + e.getMessage(), e);
        }
    }

    /** Replace the file atomically. */
    void write(Path path, ObjectNode content) {
        try {
            Path aside = new Path(path.getParent(), "." + UUID.randomUUID() + ".tmp");
            OutputStream out = files.create(aside, true);
            try {
                out.write(JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(content));
            } finally {
                out.close();
            }
            if (!files.rename(aside, path)) {
                files.delete(path, false);
                if (!files.rename(aside, path)) throw new IOException("cannot rename to " + path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + path + ": " + e.getMessage(), e);
        }
    }

    void makeFolder(Path path) {
        try {
            if (!of(path).mkdirs(path)) throw new IOException("mkdir failed");
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot create " + path + ": " + e.getMessage(), e);
        }
    }

    void rename(Path from, Path to) {
        try {
            if (!of(from).rename(from, to)) throw new IOException("rename failed");
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot rename " + from + " to " + to + ": " + e.getMessage(), e);
        }
    }

    /** Remove a folder: a rename hides it first, so that a kill leaves only a hidden folder. */
    void remove(Path path) {
        try {
            FileSystem own = of(path);
            if (!own.exists(path)) return;
            Path aside = new Path(path.getParent(), ".dropped-" + UUID.randomUUID());
            own.delete(own.rename(path, aside) ? aside : path, true);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot remove " + path + ": " + e.getMessage(), e);
        }
    }

    /**
     * Remove leftovers of an interrupted CREATE at `path`: empty folders and commits that were never linked to
     * their name. Delta creates the log's folders first and refuses to create a table in a folder that is not
     * empty. A folder with any other file is not changed.
     */
    void sweep(Path path) {
        if (isRemainder(path)) takeAway(path);
    }

    private boolean isRemainder(Path path) {
        FileStatus[] entries = list(path);
        for (int i = 0; i < entries.length; i++) {
            Path entry = entries[i].getPath();
            if (!(entries[i].isDirectory() ? isRemainder(entry) : isUnlinked(entry))) return false;
        }
        return true;
    }

    /** ".00000000000000000000.json.(uuid).tmp" of LinkLogStore */
    private static boolean isUnlinked(Path file) {
        String name = file.getName();
        return name.startsWith(".") && name.endsWith(".tmp") && name.indexOf(".json.") > 0 && file.getParent().getName().equals("_delta_log");
    }

    /** Only empty folders are removed: another process may be writing into them. */
    private void takeAway(Path path) {
        FileStatus[] entries = list(path);
        for (int i = 0; i < entries.length; i++) {
            if (entries[i].isDirectory()) takeAway(entries[i].getPath());
            else if (isUnlinked(entries[i].getPath())) deleteIfEmpty(entries[i].getPath());
        }
        deleteIfEmpty(path);
    }

    void deleteIfEmpty(Path path) {
        try {
            of(path).delete(path, false);
        } catch (IOException filled) {
            return;
        }
    }
}
