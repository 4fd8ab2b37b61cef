package lakeward;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalog;
import org.apache.spark.sql.catalyst.catalog.FunctionResource;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.CreateUserDefinedFunction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.types.StructField;
import scala.Option;
import scala.Some;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Functions of SQL that call functions of the user. Spark looks the called names up in its own catalog when the
 * function is created, and refuses names with three parts. Calls are stored as lakeward_call('catalog.schema.name', …),
 * a built-in function that represents the call; those of table functions as lakeward_table_call(…).
 */
public class FunctionBodies extends SessionRule {

    public static final String CALL = "lakeward_call";
    public static final String TABLE_CALL = "lakeward_table_call";
    private static final Pattern STORED = Pattern.compile("lakeward_(?:table_)?call\\('([^']*)'");

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan instanceof CreateUserDefinedFunction ? new Calls(session).stored((CreateUserDefinedFunction) plan) : plan;
    }

    private static class Calls {
        private final SparkSession session;

        Calls(SparkSession session) {
            this.session = session;
        }

        CreateUserDefinedFunction stored(CreateUserDefinedFunction c) {
            List self = c.child() instanceof UnresolvedIdentifier ? fullName(((UnresolvedIdentifier) c.child()).nameParts()) : null;
            Option expression = rewritten(c.exprText(), false, self);
            Option query = rewritten(c.queryText(), true, self);
            Option parameters = withDefaults(c.inputParamText(), self);
            if (expression == c.exprText() && query == c.queryText() && parameters == c.inputParamText()) return c;
            return c.copy(c.child(), parameters, c.returnTypeText(), expression, query, c.comment(), c.collation(),
                c.isDeterministic(), c.containsSQL(), c.language(), c.isTableFunc(), c.ignoreIfExists(), c.replace());
        }

        /** The same object if no default value calls a function of the user. */
        private Option withDefaults(Option text, List self) {
            if (!text.isDefined()) return text;
            String out = (String) text.get();
            int from = 0;
            try {
                Iterator fields = session.sessionState().sqlParser().parseRoutineParam(out).iterator();
                while (fields.hasNext()) {
                    Option value = ((StructField) fields.next()).getDefault();
                    Option stored = rewritten(value, false, self);
                    if (stored == value) continue;
                    int start = out.indexOf((String) value.get(), from);
                    if (start < 0) return text;
                    from = start + ((String) stored.get()).length();
                    out = out.substring(0, start) + stored.get() + out.substring(start + ((String) value.get()).length());
                }
            } catch (ParseException e) {
                return text; // Spark reports it when it runs the statement
            }
            return from == 0 ? text : new Some(out);
        }

        /** The same object if the text calls no function of the user. */
        private Option rewritten(Option text, boolean isQuery, List self) {
            if (!text.isDefined()) return text;
            ParserInterface parser = session.sessionState().sqlParser();
            String body = (String) text.get();
            TreeMap calls = new TreeMap(Collections.reverseOrder());
            try {
                if (isQuery) ofPlan(parser.parsePlan(body), calls); else ofExpression(parser.parseExpression(body), calls);
            } catch (ParseException e) {
                return text; // Spark reports it when it runs the statement
            }
            if (calls.isEmpty()) return text;
            StringBuilder out = new StringBuilder(body);
            // From the last call to the first, so that positions stay valid.
            for (java.util.Iterator i = calls.keySet().iterator(); i.hasNext();) {
                Integer start = (Integer) i.next();
                Object call = calls.get(start);
                boolean isTable = call instanceof UnresolvedTableValuedFunction;
                Seq parts = isTable ? ((UnresolvedTableValuedFunction) call).name() : ((UnresolvedFunction) call).nameParts();
                Seq given = isTable ? ((UnresolvedTableValuedFunction) call).functionArgs() : ((UnresolvedFunction) call).arguments();
                int open = opening(body, start.intValue());
                if (open < 0) return text;
                List called = fullName(parts);
                if (self != null) requireNoCycle(self, called, new ArrayList(Collections.singletonList(shown(self))));
                String name = shown(called).replace("\\", "\\\\").replace("'", "\\'");
                String stored = (isTable ? TABLE_CALL : CALL) + "('" + name + "'" + (given.isEmpty() ? "" : ", ");
                out.replace(start.intValue(), open + 1, stored);
            }
            return new Some(out.toString());
        }

        private void ofPlan(LogicalPlan plan, TreeMap calls) {
            if (plan instanceof UnresolvedTableValuedFunction && plan.origin().startIndex().isDefined()
                && isTableOfUser((UnresolvedTableValuedFunction) plan)) {
                calls.put(plan.origin().startIndex().get(), plan);
            }
            Seq expressions = plan.expressions();
            for (int i = 0; i < expressions.length(); i++) ofExpression((Expression) expressions.apply(i), calls);
            Seq children = plan.children();
            for (int i = 0; i < children.length(); i++) ofPlan((LogicalPlan) children.apply(i), calls);
            Seq inner = plan.innerChildren();
            for (int i = 0; i < inner.length(); i++) {
                if (inner.apply(i) instanceof LogicalPlan) ofPlan((LogicalPlan) inner.apply(i), calls);
            }
        }

        private void ofExpression(Expression e, TreeMap calls) {
            if (e instanceof SubqueryExpression) ofPlan((LogicalPlan) ((SubqueryExpression) e).plan(), calls);
            if (e instanceof UnresolvedFunction && e.origin().startIndex().isDefined() && isOfUser(((UnresolvedFunction) e).nameParts())) {
                calls.put(e.origin().startIndex().get(), e);
            }
            Seq children = e.children();
            for (int i = 0; i < children.length(); i++) ofExpression((Expression) children.apply(i), calls);
        }

        private boolean isOfUser(Seq parts) {
            if (parts.length() > 1) return parts.length() == 3 || !"builtin".equalsIgnoreCase((String) parts.apply(0));
            return !session.sessionState().catalog().lookupBuiltinOrTempFunction((String) parts.apply(0)).isDefined();
        }

        private boolean isTableOfUser(UnresolvedTableValuedFunction f) {
            if (f.isStreaming()) return false;
            if (f.name().length() > 1) return f.name().length() == 3 || !"builtin".equalsIgnoreCase((String) f.name().apply(0));
            return !session.sessionState().catalog().lookupBuiltinOrTempTableFunction((String) f.name().apply(0)).isDefined();
        }

        private List fullName(Seq parts) {
            CatalogManager manager = session.sessionState().catalogManager();
            List out = new ArrayList();
            for (int i = 0; i < parts.length(); i++) out.add(parts.apply(i));
            String[] current = CurrentSchema.of(manager);
            if (out.size() == 1) out.addAll(0, Arrays.asList((Object[]) current));
            if (out.size() == 2) out.add(0, current[0]);
            return out;
        }

        private static String shown(List name) {
            return QuotingUtils.quoteNameParts(PythonUtils.toSeq(name));
        }

        /** Spark's own check sees no functions behind stored calls. */
        private void requireNoCycle(List self, List called, List path) {
            boolean isSelf = shown(self).equalsIgnoreCase(shown(called));
            boolean isKnown = path.contains(shown(called));
            path.add(shown(called));
            if (isSelf) throw PythonSqlBridge.error("CYCLIC_FUNCTION_REFERENCE", new String[] {"path", String.join(" -> ", path)});
            ExternalCatalog functions = session.sharedState().externalCatalog();
            String database = called.size() == 3 ? IdentifierCodec.database((String) called.get(0), (String) called.get(1)) : "";
            String name = (String) called.get(called.size() - 1);
            if (isKnown || called.size() != 3 || !functions.functionExists(database, name)) return;
            Seq pieces = functions.getFunction(database, name).resources();
            StringBuilder stored = new StringBuilder();
            for (int i = 0; i < pieces.length(); i++) stored.append(((FunctionResource) pieces.apply(i)).uri());
            Matcher match = STORED.matcher(stored);
            while (match.find()) {
                List next = new ArrayList();
                Seq parts = parsed(session.sessionState().sqlParser(), match.group(1));
                for (int i = 0; i < parts.length(); i++) next.add(parts.apply(i));
                requireNoCycle(self, next, new ArrayList(path));
            }
        }

        /** The position of the parenthesis after the name that starts at `start`. */
        private static int opening(String body, int start) {
            boolean quoted = false;
            for (int i = start; i < body.length(); i++) {
                char c = body.charAt(i);
                if (c == '`') quoted = !quoted;
                if (c == '(' && !quoted) return i;
            }
            return -1;
        }
    }

    static Seq parsed(ParserInterface parser, String name) {
        try {
            return parser.parseMultipartIdentifier(name);
        } catch (ParseException e) {
            throw WarehouseCatalog.sneak(e);
        }
    }

    /** The name of a stored call: its first argument. */
    private static Seq name(Seq arguments) {
        ParserInterface parser = ((SparkSession) org.apache.spark.sql.SparkSession.active()).sessionState().sqlParser();
        return parsed(parser, ((Literal) arguments.apply(0)).value().toString());
    }

    /** Builds the call that is stored: the name as a literal, then the arguments. */
    public static class Builder extends AbstractFunction1 {
        public Object apply(Object arguments) {
            Seq all = (Seq) arguments;
            return new UnresolvedFunction(name(all), (Seq) all.drop(1), false, ObjectDefinitions.none(), ObjectDefinitions.none(),
                PythonUtils.toSeq(Collections.emptyList()), false);
        }
    }

    /** Builds the call of a table function; the rule SqlNames gives it the name of Spark's catalog. */
    public static class TableBuilder extends AbstractFunction1 {
        public Object apply(Object arguments) {
            Seq all = (Seq) arguments;
            return new UnresolvedTableValuedFunction(name(all), (Seq) all.drop(1), false);
        }
    }
}
