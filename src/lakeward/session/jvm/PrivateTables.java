package lakeward;

import java.util.Locale;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;

/**
 * Private tables of a pipeline. They are stored under names that listings omit; session settings map their
 * public names to the stored ones.
 */
public class PrivateTables {

    /** Prefix of a setting, followed by catalog.schema.table in lower case; its value is the stored name. */
    public static final String SETTING = "spark.lakeward.private.";
    private static final String PREFIX = "__private_";

    static boolean isHidden(String name) {
        return name.startsWith(PREFIX);
    }

    /** The stored name of the catalog's table of that name. */
    static String stored(SparkSession session, String catalog, Identifier i) {
        String name = (catalog + "." + i.namespace()[0] + "." + i.name()).toLowerCase(Locale.ROOT);
        return session.sessionState().conf().getConfString(SETTING + name, i.name());
    }
}
