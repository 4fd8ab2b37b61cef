package lakeward;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The paths that the last statement of a thread reads: Spark's error about files without a schema has no path. */
public class ReadPaths {

    private static final ThreadLocal LAST = new ThreadLocal();

    private final List paths = new ArrayList();

    /** Add a path of the statement. */
    void add(String path) {
        paths.add(path);
        LAST.set(paths);
    }

    /** The paths of the last statement that reads files by path. */
    public static List last() {
        List found = (List) LAST.get();
        return found == null ? Collections.emptyList() : found;
    }
}
