package lakeward;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.View;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/** A view as a stream: its query, with the tables that it names read as streams. */
public class StreamOfView {

    public static Dataset of(SparkSession session, View view) throws ParseException {
        LogicalPlan query = session.sessionState().sqlParser().parseQuery(view.queryText());
        LogicalPlan streamed = (LogicalPlan) query.transformDown(new Streamed(view.currentCatalog(), view.currentNamespace()));
        return (Dataset) Dataset.ofRows(session, streamed).toDF(PythonUtils.toSeq(Arrays.asList((Object[]) view.schema().fieldNames())));
    }

    public static class Streamed extends AbstractPartialFunction {
        private final String catalog;
        private final String[] namespace;

        Streamed(String catalog, String[] namespace) {
            this.catalog = catalog;
            this.namespace = namespace;
        }

        public boolean isDefinedAt(Object node) {
            return node instanceof UnresolvedRelation;
        }

        public Object applyOrElse(Object node, Function1 otherwise) {
            if (!isDefinedAt(node)) return otherwise.apply(node);
            UnresolvedRelation relation = (UnresolvedRelation) node;
            return relation.copy(named(relation.multipartIdentifier()), relation.options(), true);
        }

        /** The name as it was meant where the view was made. */
        private Seq named(Seq parts) {
            if (parts.length() > 2) return parts;
            List out = new ArrayList();
            out.add(catalog);
            if (parts.length() == 1) out.addAll(Arrays.asList((Object[]) namespace));
            for (int i = 0; i < parts.length(); i++) out.add(parts.apply(i));
            return PythonUtils.toSeq(out);
        }
    }
}
