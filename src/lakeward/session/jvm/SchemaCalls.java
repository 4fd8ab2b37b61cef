package lakeward;

import org.apache.spark.QueryContext;
import org.apache.spark.SparkRuntimeException;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * `schema_of_json` and `schema_of_csv` of a text that is no record: a condition, where Spark's functions raise errors
 * of their parsers. Their argument is a constant.
 */
public class SchemaCalls extends AbstractFunction1 {

    private static final String[] NAMES = new String[] {"schema_of_json", "schema_of_csv"};

    private final FunctionIdentifier name;

    SchemaCalls(FunctionIdentifier name) {
        this.name = name;
    }

    static void register(SparkSessionExtensions all) {
        for (int i = 0; i < NAMES.length; i++) {
            FunctionIdentifier name = new FunctionIdentifier(NAMES[i]);
            ExpressionInfo described = (ExpressionInfo) FunctionRegistry$.MODULE$.builtin().lookupFunction(name).get();
            all.injectFunction(new Tuple3(name, described, new SchemaCalls(name)));
        }
    }

    public Object apply(Object arguments) {
        Expression call = (Expression) FunctionRegistry$.MODULE$.builtin().lookupFunction(name, (Seq) arguments);
        Expression text = (Expression) call.children().apply(0);
        if (!text.foldable() || text.dataType() instanceof NullType) return call;
        if (!(text.dataType() instanceof StringType)) {
            throw PythonSqlBridge.error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", new String[] {"sqlExpr", "\"" + call.sql() + "\"",
                "paramIndex", "first", "requiredType", "\"STRING\"", "inputSql", "\"" + text.sql() + "\"",
                "inputType", "\"" + text.dataType().sql() + "\""});
        }
        if (call.checkInputDataTypes().isSuccess()) requireRecord(call, text);
        return call;
    }

    private static void requireRecord(Expression call, Expression text) {
        try {
            ((RuntimeReplaceable) call).replacement().eval(null);
        } catch (Throwable malformed) {
            // Spark asserts that a text of CSV has a record.
            if (malformed instanceof SparkThrowable || (malformed instanceof Error && !(malformed instanceof AssertionError))) return;
            throw new SparkRuntimeException("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", ObjectDefinitions.scalaMap(
                WarehouseLayout.JSON.createObjectNode().put("badRecord", String.valueOf(text.eval(null))).put("failFastMode", "FAILFAST")),
                malformed, new QueryContext[0], (Option) ObjectDefinitions.none());
        }
    }
}
