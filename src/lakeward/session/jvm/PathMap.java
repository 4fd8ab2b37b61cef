package lakeward;

import java.io.File;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;

/**
 * The user's path prefixes and the local folders behind them, as the Python side declared them:
 * one "prefix TAB folder" a line in the Hadoop setting "lakeward.path.map", longest prefix first.
 */
public class PathMap {

    public static final String SETTING = "lakeward.path.map";

    private static final Pattern VOLUME = Pattern.compile("((?:dbfs:|/dbfs)?/Volumes)((?:/[^/]+){1,3})(?=/|$)");

    private final List prefixes = new ArrayList();
    private final List folders = new ArrayList();

    public PathMap(String text) {
        String[] lines = (text == null ? "" : text).split("\n");
        for (int i = 0; i < lines.length; i++) {
            int tab = lines[i].indexOf('\t');
            if (tab > 0) {
                prefixes.add(strip(lines[i].substring(0, tab)));
                folders.add(strip(lines[i].substring(tab + 1)));
            }
        }
    }

    private static String strip(String s) {
        return s.length() > 1 && s.endsWith("/") && !s.endsWith(":/") ? s.substring(0, s.length() - 1) : s;
    }

    /**
     * Resolve "", "." and ".." in the user's name. The root of a URI is a root, as in session/paths.py; Hadoop
     * leaves ".." at the start of a path.
     */
    static String resolved(String path) {
        int colon = path.indexOf(':');
        int slash = path.indexOf('/');
        int root = 0;
        if (colon > 0 && (slash < 0 || colon < slash)) {
            root = colon + 1;
            if (path.startsWith("//", root)) {
                root = path.indexOf('/', root + 2);
                if (root < 0) return path;
            }
        }
        String[] parts = path.substring(root).split("/");
        ArrayList kept = new ArrayList();
        for (int i = 0; i < parts.length; i++) {
            if (parts[i].equals("..")) {
                if (!kept.isEmpty()) kept.remove(kept.size() - 1);
            } else if (!parts[i].isEmpty() && !parts[i].equals(".")) {
                kept.add(parts[i]);
            }
        }
        StringBuilder out = new StringBuilder(path.substring(0, root));
        if (kept.isEmpty()) out.append('/');
        for (int i = 0; i < kept.size(); i++) out.append('/').append((String) kept.get(i));
        return out.toString();
    }

    /** Whether the prefix "/" is DBFS: then dbfs:/x and /x are one path, and file:/x is the local disk. */
    public boolean rootIsDbfs() {
        return prefixes.contains("/");
    }

    /** The local file for what the user wrote, or null where no prefix matches. */
    public File local(String written) {
        return find(written, true);
    }

    /**
     * The location in the form that is kept. Where "/" is DBFS, some folders stay local, and Spark gives their paths the
     * scheme dbfs: with it, they would lead into DBFS wherever "/" is the local disk.
     */
    public URI kept(URI location) {
        String path = location.getPath();
        if (!"dbfs".equals(location.getScheme()) || !rootIsDbfs()) return location;
        File file = local(path);
        return file != null && file.getPath().equals(resolved(path)) ? new Path("file", null, path).toUri() : location;
    }

    /** The same for the file: scheme, which the prefix "/" does not cover. */
    public File onDriver(String written) {
        return find(written, false);
    }

    /** The names below the folder of all volumes: catalog, schema, volume, and the path in it; none for other folders. */
    public String[] belowVolumes(File folder) {
        File volumes = local("/Volumes");
        String above = volumes == null ? null : volumes.getPath() + "/";
        boolean isBelow = above != null && folder.getPath().startsWith(above);
        return isBelow ? folder.getPath().substring(above.length()).split("/") : new String[0];
    }

    /** Whether a prefix leads to exactly this folder. */
    public boolean isMapped(File folder) {
        return folders.contains(folder.getPath());
    }

    /** Catalog, schema and volume are names of Unity Catalog, whose case does not count; as in session/paths.py. */
    private static String canonical(String path) {
        Matcher found = VOLUME.matcher(path);
        return found.lookingAt() ? found.group(1) + found.group(2).toLowerCase(Locale.ROOT) + path.substring(found.end()) : path;
    }

    private File find(String written, boolean withRoot) {
        String user = resolved(written);
        String canonical = canonical(user);
        for (int i = 0; i < prefixes.size(); i++) {
            String prefix = (String) prefixes.get(i);
            String folder = (String) folders.get(i);
            if (prefix.equals("/") && !withRoot) continue;
            // A real folder, such as a disk below a Mac's /Volumes, keeps its case.
            String path = prefix.equals(folder) ? user : canonical;
            if (path.equals(prefix)) return new File(folder);
            if (prefix.endsWith("/") && path.startsWith(prefix)) return new File(folder, path.substring(prefix.length()));
            if (path.startsWith(prefix + "/")) return new File(folder, path.substring(prefix.length() + 1));
        }
        return null;
    }
}
