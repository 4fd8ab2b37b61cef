package lakeward;

import java.util.Locale;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;

/**
 * Tables that somebody keeps for himself. They are stored under names that no listing shows, and in a
 * session whose settings say so, the names that they go by there lead to them.
 */
public class PrivateTables {

    /** With the name (catalog.schema.table, in lower case) behind it: the name that the table is stored under. */
    public static final String SETTING = "spark.lakeward.private.";
    private static final String PREFIX = "__private_";

    static boolean isHidden(String name) {
        return name.startsWith(PREFIX);
    }

    /** What the catalog's own table of that name is called where it is stored. */
    static String stored(SparkSession session, String catalog, Identifier i) {
        String name = (catalog + "." + i.namespace()[0] + "." + i.name()).toLowerCase(Locale.ROOT);
        return session.sessionState().conf().getConfString(SETTING + name, i.name());
    }
}
