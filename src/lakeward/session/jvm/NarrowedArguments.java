package lakeward;

import java.util.Objects;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.expressions.ArrayInsert;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.ElementAt;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.ExpectsInputTypes;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.FrameLessOffsetWindowFunction;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NTile;
import org.apache.spark.sql.catalyst.expressions.SpecifiedWindowFrame;
import org.apache.spark.sql.catalyst.expressions.Stack;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.WindowFrame;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.expressions.aggregate.ApproximatePercentile;
import org.apache.spark.sql.catalyst.expressions.aggregate.ListAgg;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.IntegralType$;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.TypeCollection;
import scala.Function1;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Arguments of a wider numeric type than a function expects, as in date_add(day, bigint). With ANSI mode the platform
 * casts them to the narrower type, and a value that is out of its range is an error; Spark does so for some functions.
 * The delimiter of listagg has the collation of the values, as other functions do it in Spark.
 * Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-datatype-rules (implicit downcasting)
 */
public class NarrowedArguments extends SessionRule {

    private static final Narrowing NARROWING = new Narrowing();
    /** Functions that read their second argument, an INT, when the call is made: no rule sees the argument. */
    private static final String[] READ_EARLY = new String[] {"approx_top_k_combine", "ceil", "ceiling", "floor"};

    static void register(SparkSessionExtensions all) {
        all.injectResolutionRule(new NarrowedArguments());
        for (int i = 0; i < READ_EARLY.length; i++) {
            FunctionIdentifier name = new FunctionIdentifier(READ_EARLY[i], Option.apply("builtin"), Option.apply("system"));
            Tuple2 entry = (Tuple2) FunctionRegistry$.MODULE$.builtin().lookupFunctionEntry(name).get();
            all.injectFunction(new Tuple3(new FunctionIdentifier(READ_EARLY[i]), entry._1(), new Builder((Function1) entry._2())));
        }
    }

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (plan.resolved() || !session.sessionState().conf().ansiEnabled()) return plan;
        return plan.transformAllExpressions(NARROWING);
    }

    private static Expression cast(Expression argument, DataType target) {
        return Cast$.MODULE$.apply(argument, target, Option.empty(), EvalMode$.MODULE$.ANSI());
    }

    private static boolean isOtherNumber(Expression argument) {
        return argument.dataType() instanceof NumericType && !DataTypes.IntegerType.acceptsType(argument.dataType());
    }

    private static Seq seq(Expression[] all) {
        return scala.collection.immutable.ArraySeq$.MODULE$.unsafeWrapArray(all);
    }

    /** Makes a call of a function whose second argument is an INT. */
    public static class Builder extends AbstractFunction1 {
        private final Function1 builder;

        Builder(Function1 builder) {
            this.builder = builder;
        }

        public Object apply(Object arguments) {
            Seq given = (Seq) arguments;
            if (given.length() != 2 || !SQLConf.get().ansiEnabled()) return builder.apply(given);
            Expression second = (Expression) given.apply(1);
            if (!second.resolved() || !isOtherNumber(second)) return builder.apply(given);
            return builder.apply(seq(new Expression[] {(Expression) given.apply(0), cast(second, DataTypes.IntegerType)}));
        }
    }

    /** Casts the arguments of a call that has the wrong types, where that is a numeric type for another. */
    public static class Narrowing extends NodeRewrite {

        public boolean isDefinedAt(Object e) {
            if (e instanceof WindowExpression) return isFrameOfOtherOffset((WindowExpression) e);
            return (e instanceof ExpectsInputTypes || e instanceof NTile || e instanceof Stack)
                && ((Expression) e).childrenResolved() && ((Expression) e).checkInputDataTypes().isFailure();
        }

        Object replacement(Object e) {
            if (!(e instanceof WindowExpression)) return narrowed((Expression) e);
            WindowExpression call = (WindowExpression) e;
            WindowSpecDefinition spec = call.windowSpec();
            return call.copy(call.windowFunction(), spec.copy(spec.partitionSpec(), spec.orderSpec(),
                ((FrameLessOffsetWindowFunction) call.windowFunction()).frame()));
        }

        /**
         * Whether a frame has the offset of `lag` or `lead` without the cast that the function has now. Spark sets the frame
         * before it casts, and refuses the call because they differ.
         */
        private static boolean isFrameOfOtherOffset(WindowExpression call) {
            if (!(call.windowFunction() instanceof FrameLessOffsetWindowFunction)) return false;
            WindowFrame frame = ((FrameLessOffsetWindowFunction) call.windowFunction()).frame();
            WindowFrame before = call.windowSpec().frameSpecification();
            if (!(before instanceof SpecifiedWindowFrame) || before.equals(frame)) return false;
            Expression bound = ((SpecifiedWindowFrame) before).lower();
            Expression offset = ((SpecifiedWindowFrame) frame).lower();
            return bound.resolved() && isOtherNumber(bound) && bound.equals(((SpecifiedWindowFrame) before).upper())
                && bound.foldable() && offset.foldable()
                && Objects.equals(cast(bound, offset.dataType()).eval(null), offset.eval(null));
        }

        private static Expression narrowed(Expression call) {
            Seq arguments = call.children();
            Expression[] casts = new Expression[arguments.length()];
            boolean narrowed = false;
            for (int i = 0; i < casts.length; i++) {
                casts[i] = (Expression) arguments.apply(i);
                DataType target = target(call, i, casts[i]);
                if (target == null) continue;
                casts[i] = cast(casts[i], target);
                narrowed = true;
            }
            return narrowed ? (Expression) call.withNewChildren(seq(casts)) : call;
        }

        /** The numeric type that a call expects instead of the one of its argument; null if the argument stays. */
        private static DataType target(Expression call, int position, Expression argument) {
            if (isInt(call, position)) return isOtherNumber(argument) ? DataTypes.IntegerType : null;
            if (call instanceof ListAgg && position == 1) return collated(((ListAgg) call).child().dataType(), argument);
            if (!(call instanceof ExpectsInputTypes)) return null;
            Seq types = ((ExpectsInputTypes) call).inputTypes();
            if (position >= types.length()) return null;
            AbstractDataType expected = (AbstractDataType) types.apply(position);
            DataType given = argument.dataType();
            if (!(given instanceof NumericType) || expected.acceptsType(given)) return null;
            if (expected == IntegralType$.MODULE$) return isCount(call, position) ? DataTypes.LongType : null;
            if (!(expected instanceof NumericType || expected instanceof TypeCollection)) return null;
            DataType first = expected.defaultConcreteType();
            return first instanceof NumericType ? first : null;
        }

        /** The type of the values of listagg for its delimiter; null if the delimiter has it, or a collation of its own. */
        private static DataType collated(DataType values, Expression delimiter) {
            boolean differs = values instanceof StringType && delimiter.dataType() instanceof StringType && !values.equals(delimiter.dataType());
            return differs && delimiter instanceof Literal ? values : null;
        }

        /** Whether an argument is an INT of a call that does not declare its types: a count, or a position in an array. */
        private static boolean isInt(Expression call, int position) {
            if (call instanceof NTile || call instanceof Stack) return position == 0;
            if (position != 1 || !(call instanceof ElementAt || call instanceof ArrayInsert)) return false;
            return ((Expression) call.children().apply(0)).dataType() instanceof ArrayType;
        }

        /** Whether an argument of any integral type does not decide the type of the result, as that of bit_and does. */
        private static boolean isCount(Expression call, int position) {
            if (call instanceof ApproximatePercentile) return position == 2;
            return call.dataType() instanceof TimestampType || call.dataType() instanceof TimeType;
        }
    }
}
