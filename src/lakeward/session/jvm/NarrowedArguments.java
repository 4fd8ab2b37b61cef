package lakeward;

import org.apache.spark.sql.catalyst.expressions.ArrayInsert;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.ElementAt;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.ExpectsInputTypes;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.TypeCollection;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * Arguments of a wider numeric type than a function expects, as in date_add(day, bigint). With ANSI mode the platform
 * casts them to the narrower type, and a value that is out of its range is an error; Spark does so for some functions.
 * Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-datatype-rules (implicit downcasting)
 */
public class NarrowedArguments extends SessionRule {

    private static final Narrowing NARROWING = new Narrowing();

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (plan.resolved() || !session.sessionState().conf().ansiEnabled()) return plan;
        return plan.transformAllExpressions(NARROWING);
    }

    /** Casts the arguments of a call that has the wrong types, where that is a numeric type for another. */
    public static class Narrowing extends AbstractPartialFunction {

        public boolean isDefinedAt(Object e) {
            return e instanceof ExpectsInputTypes && ((Expression) e).childrenResolved()
                && ((ExpectsInputTypes) e).checkInputDataTypes().isFailure();
        }

        public Object applyOrElse(Object e, Function1 otherwise) {
            if (!isDefinedAt(e)) return otherwise.apply(e);
            Expression call = (Expression) e;
            Seq expected = ((ExpectsInputTypes) e).inputTypes();
            Seq arguments = call.children();
            Expression[] casts = new Expression[arguments.length()];
            boolean narrowed = false;
            for (int i = 0; i < casts.length; i++) {
                casts[i] = (Expression) arguments.apply(i);
                DataType target = i == 1 && isPosition(call) ? DataTypes.IntegerType
                    : i >= expected.length() ? null : target((AbstractDataType) expected.apply(i), casts[i].dataType());
                if (target == null) continue;
                casts[i] = Cast$.MODULE$.apply(casts[i], target, Option.empty(), EvalMode$.MODULE$.ANSI());
                narrowed = true;
            }
            return narrowed ? call.withNewChildren(scala.collection.immutable.ArraySeq$.MODULE$.unsafeWrapArray(casts)) : call;
        }

        /** Whether the second argument is a position in an array; such calls expect no types if it is a BIGINT. */
        private static boolean isPosition(Expression call) {
            if (!(call instanceof ElementAt || call instanceof ArrayInsert)) return false;
            return ((Expression) call.children().apply(0)).dataType() instanceof ArrayType
                && ((Expression) call.children().apply(1)).dataType() instanceof LongType;
        }

        /** The numeric type that is expected instead of the given one; null if the argument stays. */
        private static DataType target(AbstractDataType expected, DataType given) {
            if (!(given instanceof NumericType) || expected.acceptsType(given)) return null;
            if (!(expected instanceof NumericType || expected instanceof TypeCollection)) return null;
            DataType first = expected.defaultConcreteType();
            return first instanceof NumericType ? first : null;
        }
    }
}
