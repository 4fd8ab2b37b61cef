package lakeward;

import java.lang.reflect.Field;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.DefaultCatalogManager;
import scala.collection.mutable.HashMap;

/** Catalogs by name in any case, as schemas and tables are found: a session gets MAIN as another name of main. */
public class CaseInsensitiveTable {

    private static final Pattern BEFORE_A_DOT = Pattern.compile("\\b(\\w*[A-Z]\\w*)`?\\s*\\.");

    /** Make every name before a dot in this text known that is a catalog's but for its case. */
    static void admit(CatalogManager manager, String text) {
        Matcher names = BEFORE_A_DOT.matcher(text);
        while (names.find()) {
            String name = names.group(1);
            String lower = name.toLowerCase(Locale.ROOT);
            if (manager.isCatalogRegistered(lower) && !manager.isCatalogRegistered(name)) put(manager, name, manager.catalog(lower));
        }
    }

    /** Let the catalog be found under this name, in place of the one that was. */
    static void put(CatalogManager manager, String name, CatalogPlugin catalog) {
        if (!(manager instanceof DefaultCatalogManager)) return;
        try {
            Field field = DefaultCatalogManager.class.getDeclaredField("catalogs");
            field.setAccessible(true);
            synchronized (manager) {
                ((HashMap) field.get(manager)).put(name, catalog);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Spark keeps its catalogs elsewhere than 4.2 does", e);
        }
    }

    static boolean mayConcern(String text) {
        return BEFORE_A_DOT.matcher(text).find();
    }
}
