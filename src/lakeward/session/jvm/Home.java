package lakeward;

/**
 * Which lakehouse this JVM works on: the warehouse folder and the path mapping. A driver points them
 * at another state folder without a new Spark context; executors fall back on the Hadoop setting.
 */
public class Home {

    private static volatile String warehouse;
    private static volatile PathMap paths;

    public static void use(String warehouseFolder, String pathMap) {
        warehouse = warehouseFolder;
        paths = new PathMap(pathMap);
    }

    static String warehouse(String declared) {
        return warehouse == null ? declared : warehouse;
    }

    static PathMap paths(PathMap declared) {
        return paths == null ? declared : paths;
    }
}
