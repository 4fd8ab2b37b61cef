package lakeward;

import org.apache.spark.sql.catalyst.analysis.AnalysisContext;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import scala.collection.immutable.Seq;

/** The catalog and schema that short names are completed with. */
public class CurrentSchema {

    /** The catalog, then the parts of the schema: in a view or a function, those that it was created in. */
    static String[] of(CatalogManager manager) {
        Seq created = AnalysisContext.get().catalogAndNamespace();
        String[] namespace = manager.currentNamespace();
        String[] out = new String[created.isEmpty() ? namespace.length + 1 : created.length()];
        for (int i = 0; i < out.length; i++) {
            if (!created.isEmpty()) out[i] = (String) created.apply(i);
            else out[i] = i == 0 ? manager.currentCatalog().name() : namespace[i - 1];
        }
        return out;
    }
}
