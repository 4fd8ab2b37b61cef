package lakeward;

/**
 * Which lakehouse this JVM works on: the warehouse folder, the path mapping and the folder that relative
 * paths start from. A driver points them elsewhere without a new Spark context; executors fall back on the
 * Hadoop setting.
 */
public class LakehouseSettings {

    private static volatile String warehouse;
    private static volatile PathMap paths;
    private static volatile String folder;

    public static void use(String warehouseFolder, String pathMap) {
        warehouse = warehouseFolder;
        paths = new PathMap(pathMap);
    }

    /** Where the process stands that this JVM works for, when that is not where the JVM was started. */
    public static void stand(String workingFolder) {
        folder = workingFolder;
    }

    static String warehouse(String declared) {
        return warehouse == null ? declared : warehouse;
    }

    static PathMap paths(PathMap declared) {
        return paths == null ? declared : paths;
    }

    static String folder() {
        return folder;
    }
}
