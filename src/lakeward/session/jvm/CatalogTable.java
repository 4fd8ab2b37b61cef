package lakeward;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.analysis.AnalysisContext;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import scala.collection.immutable.Seq;

/** The catalog and the identifier that a name of up to three parts has where the analyzer meets it. */
public class CatalogTable {

    public final CatalogPlugin catalog;
    public final Identifier identifier;

    private CatalogTable(CatalogPlugin catalog, Identifier identifier) {
        this.catalog = catalog;
        this.identifier = identifier;
    }

    /** Null for temporary views, unknown catalogs and longer names. */
    static CatalogTable find(SparkSession session, Seq name) {
        CatalogManager manager = session.sessionState().catalogManager();
        AnalysisContext context = AnalysisContext.get();
        boolean isTemporary = context.catalogAndNamespace().isEmpty() ? session.sessionState().catalog().isTempView(name) : context.referredTempViewNames().contains(name);
        if (isTemporary || name.length() > 3) return null;
        String[] current = CurrentSchema.of(manager);
        String catalog = current[0];
        String[] namespace = (String[]) Arrays.copyOfRange(current, 1, current.length);
        if (name.length() == 3) catalog = (String) name.apply(0);
        if (name.length() > 1) namespace = new String[] {(String) name.apply(name.length() - 2)};
        if (namespace.length != 1 || !manager.isCatalogRegistered(catalog)) return null;
        return new CatalogTable(manager.catalog(catalog), Identifier.of(namespace, (String) name.apply(name.length() - 1)));
    }
}
