package lakeward;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ExplainMode;
import org.apache.spark.sql.execution.command.ExplainCommand;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/**
 * Names of tables and functions as users write them, in texts of Spark such as plans: catalog and schema instead of the
 * database of Spark's session catalog, which joins the two (`IdentifierCodec`).
 */
public class ShownNames extends SessionRule {

    private static final Pattern JOINED = Pattern.compile("(`?)\\bspark_catalog\\1\\.\\1([a-z0-9_]+__[a-z0-9_]+)\\1\\.");

    /** A table that a command writes, as plans describe it. */
    private static final Pattern DESCRIBED = Pattern.compile("Catalog: spark_catalog\nDatabase: ([a-z0-9_]+__[a-z0-9_]+)\n");

    /** `text` with the names that users know. */
    public static String shown(String text) {
        if (!text.contains("__")) return text;
        Matcher match = JOINED.matcher(text);
        StringBuffer named = new StringBuffer();
        while (match.find()) {
            String quote = match.group(1);
            String joined = match.group(2);
            String users = quote + IdentifierCodec.catalog(joined) + quote + "." + quote + IdentifierCodec.schema(joined) + quote + ".";
            match.appendReplacement(named, Matcher.quoteReplacement(users));
        }
        match.appendTail(named);
        match = DESCRIBED.matcher(named.toString());
        named = new StringBuffer();
        while (match.find()) {
            String joined = match.group(1);
            String users = "Catalog: " + IdentifierCodec.catalog(joined) + "\nDatabase: " + IdentifierCodec.schema(joined) + "\n";
            match.appendReplacement(named, Matcher.quoteReplacement(users));
        }
        return match.appendTail(named).toString();
    }

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (plan.getClass() != ExplainCommand.class) return plan;
        ExplainCommand explain = (ExplainCommand) plan;
        return new Explain(explain.logicalPlan(), explain.mode());
    }

    public static class Explain extends ExplainCommand {
        public Explain(LogicalPlan plan, ExplainMode mode) {
            super(plan, mode);
        }

        public String nodeName() {
            return "ExplainCommand";
        }

        public Seq run(org.apache.spark.sql.SparkSession session) {
            List rows = new ArrayList();
            Iterator each = super.run(session).iterator();
            while (each.hasNext()) rows.add(RowFactory.create(new Object[] {shown(((Row) each.next()).getString(0))}));
            return PythonUtils.toSeq(rows);
        }
    }
}
