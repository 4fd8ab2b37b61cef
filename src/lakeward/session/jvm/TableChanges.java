package lakeward;

import io.delta.tables.DeltaTable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.ClassicColumnConversions$;
import scala.Option;

/** `delete` and `update` of a DeltaTable with the rows that the statements return; Delta's own methods drop them. */
public class TableChanges {

    /** The condition may be null: all rows. */
    public static Dataset delete(DeltaTable table, Column condition) {
        Expression rows = condition == null ? Literal.TrueLiteral() : expression(condition);
        return result(table, new DeleteFromTable(plan(table), rows));
    }

    /** `set` has columns by name; the condition may be null: all rows. */
    public static Dataset update(DeltaTable table, Column condition, Map set) {
        List assignments = new ArrayList();
        for (Iterator names = set.keySet().iterator(); names.hasNext();) {
            String name = (String) names.next();
            assignments.add(new Assignment(UnresolvedAttribute.quotedString(name), expression((Column) set.get(name))));
        }
        Option rows = condition == null ? Option.empty() : Option.apply(expression(condition));
        return result(table, new UpdateTable(plan(table), PythonUtils.toSeq(assignments), rows));
    }

    private static Expression expression(Column column) {
        return ClassicColumnConversions$.MODULE$.toRichColumn(column).expr();
    }

    private static LogicalPlan plan(DeltaTable table) {
        return ((Dataset) table.toDF()).queryExecution().analyzed();
    }

    private static Dataset result(DeltaTable table, LogicalPlan statement) {
        return Dataset.ofRows((SparkSession) ((Dataset) table.toDF()).sparkSession(), statement);
    }
}
