package lakeward;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ToPrettyString;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.GeographyType;
import org.apache.spark.sql.types.GeometryType;

/** `show()` prints geometries as EWKT, as on the platform; Spark prints the name and the hash of its class. */
public class ShownGeometries extends SessionRule {

    private static final AsText AS_TEXT = new AsText();

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        // show() selects the texts of all columns: the root of its plan.
        return plan instanceof Project && plan.resolved() ? plan.transformExpressions(AS_TEXT) : plan;
    }

    public static class AsText extends NodeRewrite {

        public boolean isDefinedAt(Object e) {
            return e instanceof ToPrettyString && (isGeospatial(((ToPrettyString) e).child().dataType())
                || isArray(((ToPrettyString) e).child().dataType()));
        }

        private static boolean isGeospatial(DataType type) {
            return type instanceof GeometryType || type instanceof GeographyType;
        }

        private static boolean isArray(DataType type) {
            return type instanceof ArrayType && isGeospatial(((ArrayType) type).elementType());
        }

        Object replacement(Object e) {
            ToPrettyString shown = (ToPrettyString) e;
            String function = isArray(shown.child().dataType()) ? GeoConstructors.TEXTS : "st_asewkt";
            return shown.copy((Expression) GeoTable.call(function, shown.child()), shown.timeZoneId());
        }
    }
}
