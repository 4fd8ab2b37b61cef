package lakeward;

import java.lang.reflect.Constructor;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.SchemaEvolution$;
import org.apache.spark.sql.catalyst.analysis.SchemaTypeEvolution$;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Stores the columns that the query of a view WITH SCHEMA EVOLUTION or TYPE EVOLUTION has now. Spark's own rule runs
 * later and writes to the session catalog alone: it finds the columns of the query in the plan, and nothing to do.
 */
public class ViewEvolution extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.transformDown(new Evolved(session));
    }

    public static class Evolved extends NodeRewrite {
        private final SparkSession session;

        Evolved(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object node) {
            if (!(node instanceof View) || ((View) node).isTempView()) return false;
            Object mode = ((View) node).desc().viewSchemaMode();
            return mode == SchemaEvolution$.MODULE$ || mode == SchemaTypeEvolution$.MODULE$;
        }

        Object replacement(Object node) {
            View view = (View) node;
            StructType stored = view.desc().schema();
            StructType query = view.child().schema();
            if (query.equals(stored)) return view;
            StructType columns = commented(query, stored);
            if (!columns.equals(stored)) store(view.desc().identifier(), columns);
            return view.copy(with(view.desc(), query), view.isTempView(), view.child(), view.options());
        }

        private void store(TableIdentifier view, StructType columns) {
            if (view.catalog().isEmpty()) return;
            CatalogPlugin catalog = session.sessionState().catalogManager().catalog((String) view.catalog().get());
            if (!(catalog instanceof Catalog)) return;
            Identifier i = Identifier.of(new String[] {(String) view.database().get()}, view.table());
            ((Catalog) catalog).storeColumns(i, columns);
        }

        /** The columns of the query, with the comments that the view has for them. */
        private static StructType commented(StructType query, StructType stored) {
            StructType out = new StructType();
            for (StructField field : query.fields()) {
                StructField was = null;
                for (StructField other : stored.fields()) if (other.name().equals(field.name())) was = other;
                boolean hasComment = was != null && was.getComment().isDefined();
                out = out.add(hasComment ? field.withComment((String) was.getComment().get()) : field);
            }
            return out;
        }

        private static CatalogTable with(CatalogTable view, StructType columns) {
            Object[] values = new Object[view.productArity()];
            for (int k = 0; k < values.length; k++) {
                values[k] = view.productElementName(k).equals("schema") ? columns : view.productElement(k);
            }
            try {
                for (Constructor each : CatalogTable.class.getConstructors()) {
                    if (each.getParameterCount() == values.length) return (CatalogTable) each.newInstance(values);
                }
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            throw new IllegalStateException("This Spark makes descriptions of views in another way than 4.2 does");
        }
    }
}
