package lakeward;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.None$;
import scala.Option;
import scala.PartialFunction;
import scala.Some;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * `spark.table("t@v1")` and `spark.read.table("t@20260131235959999")`: a version of a table as a part of its name. A
 * table that has such a name is read as it is.
 */
public class VersionedNames extends SessionRule {

    private static final Pattern NAME = Pattern.compile("(.+)@(?:[vV](\\d+)|(\\d{17}))", Pattern.DOTALL);

    /** A relation that was not found becomes the version of a table. */
    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.resolveOperators((PartialFunction) new Relations());
    }

    /** The name and the version as texts; null for a name without a version. */
    static String[] split(String name) {
        Matcher found = NAME.matcher(name.trim());
        return found.matches() ? new String[] {found.group(1), name.trim().substring(found.group(1).length())} : null;
    }

    /** The name of the table whose version the name has; null for a name without a version. */
    static Seq table(Seq parts) {
        Matcher found = NAME.matcher((String) parts.last());
        return found.matches() ? withLast(parts, found.group(1)) : null;
    }

    /** The parts of a table's name, the version at the end of the last one. */
    static Seq withVersion(Seq parts, String version) {
        return withLast(parts, parts.last() + version);
    }

    private static Seq withLast(Seq parts, String last) {
        return (Seq) ((Seq) parts.init()).appended(last);
    }

    public static class Relations extends AbstractPartialFunction {
        public boolean isDefinedAt(Object node) {
            return node instanceof UnresolvedRelation && travel((UnresolvedRelation) node) != null;
        }

        public Object applyOrElse(Object node, scala.Function1 otherwise) {
            Object travel = node instanceof UnresolvedRelation ? travel((UnresolvedRelation) node) : null;
            return travel == null ? otherwise.apply(node) : travel;
        }
    }

    private static RelationTimeTravel travel(UnresolvedRelation relation) {
        Seq parts = relation.multipartIdentifier();
        Matcher found = NAME.matcher((String) parts.last());
        if (relation.isStreaming() || !found.matches()) return null;
        LogicalPlan table = relation.copy(withLast(parts, found.group(1)), relation.options(), false);
        if (found.group(2) != null) return new RelationTimeTravel(table, (Option) None$.MODULE$, new Some(found.group(2)));
        return new RelationTimeTravel(table, new Some(timestamp(found.group(3))), (Option) None$.MODULE$);
    }

    /** Year to milliseconds as a text that Spark casts in the session's time zone. */
    private static Literal timestamp(String digits) {
        String text = digits.replaceAll("(\\d{4})(\\d\\d)(\\d\\d)(\\d\\d)(\\d\\d)(\\d\\d)(\\d{3})", "$1-$2-$3 $4:$5:$6.$7");
        return new Literal(UTF8String.fromString(text), DataTypes.StringType);
    }
}
