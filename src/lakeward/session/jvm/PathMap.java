package lakeward;

import java.io.File;
import java.util.ArrayList;
import java.util.List;

/**
 * The user's path prefixes and the local folders behind them, as the Python side declared them:
 * one "prefix TAB folder" a line in the Hadoop setting "lakeward.path.map", longest prefix first.
 */
public class PathMap {

    public static final String SETTING = "lakeward.path.map";

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

    /** The local file for what the user wrote, or null where no prefix matches. */
    public File local(String path) {
        for (int i = 0; i < prefixes.size(); i++) {
            String prefix = (String) prefixes.get(i);
            String folder = (String) folders.get(i);
            if (path.equals(prefix)) return new File(folder);
            if (prefix.endsWith("/") && path.startsWith(prefix)) return new File(folder, path.substring(prefix.length()));
            if (path.startsWith(prefix + "/")) return new File(folder, path.substring(prefix.length() + 1));
        }
        return null;
    }
}
