package lakeward;

import java.util.Locale;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.internal.SQLConf;

/**
 * `spark_catalog` as code written for open-source Spark means it: there every session begins in it. With
 * {@link #SETTING} it is another name of the catalog in which the session begins here.
 */
public class SparkCatalog {

    public static final String SETTING = "spark.sql.lakeward.sparkCatalogIsDefault";
    private static final String BEHIND = "lakeward_session_catalog";

    static boolean mayConcern(String text) {
        return text.toLowerCase(Locale.ROOT).contains(IdentifierCodec.SESSION);
    }

    /** Make it another name if the session's setting requires it. */
    public static void admit(SparkSession session) {
        SQLConf conf = session.sessionState().conf();
        CatalogManager manager = session.sessionState().catalogManager();
        if (!Boolean.parseBoolean(conf.getConfString(SETTING, "false")) || isElsewhere(manager)) return;
        CaseInsensitiveTable.put(manager, BEHIND, manager.v2SessionCatalog());
        CaseInsensitiveTable.put(manager, IdentifierCodec.SESSION, manager.catalog(conf.getConfString("spark.sql.defaultCatalog")));
    }

    /** Spark's session catalog itself, in which every catalog keeps its tables. */
    static CatalogPlugin own(CatalogManager manager) {
        return isElsewhere(manager) ? manager.catalog(BEHIND) : manager.v2SessionCatalog();
    }

    /** The name under which it is found, which functions ask for. */
    static String nameOfOwn(CatalogManager manager) {
        return isElsewhere(manager) ? BEHIND : IdentifierCodec.SESSION;
    }

    private static boolean isElsewhere(CatalogManager manager) {
        return !manager.v2SessionCatalog().name().equals(IdentifierCodec.SESSION);
    }
}
