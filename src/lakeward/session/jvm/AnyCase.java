package lakeward;

import java.lang.reflect.Field;
import java.util.Locale;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.DefaultCatalogManager;
import scala.Function0;
import scala.Option;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.mutable.HashMap;

/** The loaded catalogs of a session by name in any case: MAIN is main, as names of schemas and tables are. */
public class AnyCase extends HashMap {

    private final CatalogManager manager;

    private AnyCase(CatalogManager manager, HashMap loaded) {
        super(16, 0.75d);
        this.manager = manager;
        Iterator all = loaded.iterator();
        while (all.hasNext()) {
            Tuple2 one = (Tuple2) all.next();
            put(one._1(), one._2());
        }
    }

    /** From here on this manager finds a catalog by its name in any case. */
    static void use(CatalogManager manager) {
        if (!(manager instanceof DefaultCatalogManager)) return;
        try {
            Field field = DefaultCatalogManager.class.getDeclaredField("catalogs");
            field.setAccessible(true);
            HashMap loaded = (HashMap) field.get(manager);
            if (!(loaded instanceof AnyCase)) field.set(manager, new AnyCase(manager, loaded));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Spark keeps its catalogs elsewhere than 4.2 does", e);
        }
    }

    public Object getOrElseUpdate(Object name, Function0 loading) {
        Option loaded = get(name);
        if (loaded.isDefined()) return loaded.get();
        String lower = ((String) name).toLowerCase(Locale.ROOT);
        if (!lower.equals(name) && manager.isCatalogRegistered(lower)) return manager.catalog(lower);
        return super.getOrElseUpdate(name, loading);
    }
}
