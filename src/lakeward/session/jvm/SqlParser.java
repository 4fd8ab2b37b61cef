package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.delta.sql.parser.DeltaSqlParser;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.IdentityHashMap;
import java.util.regex.Pattern;
import org.apache.spark.QueryContext;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.parser.HybridParameterContext;
import org.apache.spark.sql.catalyst.parser.NamedParameterContext;
import org.apache.spark.sql.catalyst.parser.ParameterContext;
import org.apache.spark.sql.catalyst.parser.ParameterHandler;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.parser.PositionMapper;
import org.apache.spark.sql.catalyst.parser.PositionalParameterContext;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Product;
import scala.Some;
import scala.Tuple2;
import scala.collection.Iterable;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/**
 * The session's parser. Text that Spark parses is passed to Spark unchanged. Other text, and the few texts that
 * Spark parses with another meaning, go to the Python part.
 */
public class SqlParser implements ParserInterface {

    private static final int PLAN = 0;
    private static final int QUERY = 1;
    private static final int EXPRESSION = 2;

    private static final Pattern CLUSTERED_SCRIPT = Pattern.compile("\\bbegin\\b.*\\bcluster\\s+by\\b.*\\bend\\b",
        Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private final SparkSession session;
    private final ParserInterface spark;

    public SqlParser(SparkSession session, ParserInterface spark) {
        this.session = session;
        this.spark = spark;
    }

    /** The parser that this one wraps. */
    public ParserInterface sparks() {
        return spark;
    }

    public LogicalPlan parsePlan(String text) throws ParseException {
        return (LogicalPlan) parse(text, PLAN, null);
    }

    public LogicalPlan parseQuery(String text) throws ParseException {
        return (LogicalPlan) parse(text, QUERY, null);
    }

    public Expression parseExpression(String text) throws ParseException {
        return (Expression) parse(text, EXPRESSION, null);
    }

    public LogicalPlan parsePlanWithParameters(String text, ParameterContext parameters) throws ParseException {
        if (isEmpty(parameters)) return (LogicalPlan) parse(text, PLAN, null);
        if (!(parameters instanceof PositionalParameterContext)) return (LogicalPlan) parse(text, PLAN, parameters);
        PositionalParameterContext positional = (PositionalParameterContext) parameters;
        if (PositionalParameters.isProbe(positional)) return spark.parsePlan("SELECT 1");
        return (LogicalPlan) parse(text, PLAN, PositionalParameters.inOrder(session, positional));
    }

    private Object parse(String text, int what, ParameterContext parameters) throws ParseException {
        if (what != PLAN) return parsed(text, what, parameters);
        Transactions.parsing(session, text);
        Object plan = parsed(text, what, parameters);
        Transactions.parsed(session, plan);
        return plan;
    }

    private Object parsed(String text, int what, ParameterContext parameters) throws ParseException {
        admitCatalogs(text);
        boolean isTriggered = PythonSqlBridge.isTriggered(text);
        ObjectNode answer = isTriggered ? PythonSqlBridge.ask(text, what == EXPRESSION) : null;
        if (parameters != null && (answer == null ? isTriggered : !answer.has("edits"))) {
            ObjectNode command = PythonSqlBridge.command(text, values(parameters));
            if (command != null) answer = command;
        }
        if (answer == null) {
            try {
                return bySpark(text, what, parameters);
            } catch (Exception e) {
                answer = isTriggered ? null : PythonSqlBridge.ask(text, what == EXPRESSION);
                if (parameters != null && (answer == null || !answer.has("edits"))) {
                    ObjectNode command = PythonSqlBridge.command(text, values(parameters));
                    if (command != null) answer = command;
                }
                if (answer == null) return filled(text, parameters, e);
            }
        }
        if (answer.has("error")) throw PythonSqlBridge.error(answer.get("error"));
        if (answer.has("command")) return SqlCommand.plan((ObjectNode) answer.get("command"));
        SqlPositions positions = new SqlPositions(text, answer.get("edits"));
        try {
            Object parsed = bySpark(positions.text, what, parameters);
            positions.restore(parsed);
            return parsed;
        } catch (ParseException e) {
            throw positions.restore(e);
        }
    }

    private void admitCatalogs(String text) {
        if (CaseInsensitiveTable.mayConcern(text)) CaseInsensitiveTable.admit(session.sessionState().catalogManager(), text);
        if (SparkCatalog.mayConcern(text)) SparkCatalog.admit(session);
    }

    private Object bySpark(String text, int what, ParameterContext parameters) throws ParseException {
        if (what == EXPRESSION) return spark.parseExpression(text);
        if (what == QUERY) return spark.parseQuery(text);
        return parameters == null ? planBySpark(text) : withParameters(text, parameters);
    }

    /** In a script, Delta's parser makes a partitioning of the columns of CLUSTER BY; Spark's own keeps them. */
    private LogicalPlan planBySpark(String text) throws ParseException {
        boolean isClustered = spark instanceof DeltaSqlParser && CLUSTERED_SCRIPT.matcher(text).find();
        return (isClustered ? ((DeltaSqlParser) spark).delegate() : spark).parsePlan(text);
    }

    /** Delta's parser, which wraps Spark's, does not support parameters: they are substituted here. */
    private LogicalPlan withParameters(String text, ParameterContext parameters) throws ParseException {
        Tuple2 substituted = ParameterHandler.substituteParameters(text, parameters);
        Origin before = CurrentOrigin.get();
        CurrentOrigin.set(new Origin(before.line(), before.startPosition(), new Some(Integer.valueOf(0)),
            new Some(Integer.valueOf(text.length() - 1)), new Some(substituted._1()), before.objectType(), before.objectName(),
            before.stackTrace(), before.pysparkErrorContext(), new Some(substituted._2())));
        try {
            return planBySpark((String) substituted._1());
        } finally {
            CurrentOrigin.set(before);
        }
    }

    /** A statement of Delta's parser, whose parameters Spark cannot substitute; for others throws `e`. */
    private LogicalPlan filled(String text, ParameterContext parameters, Exception e) {
        try {
            if (parameters != null && e instanceof ParseException) return spark.parsePlan(PythonSqlBridge.fill(text, values(parameters)));
        } catch (ParseException again) {
            // The first error has the positions of the user's text.
        }
        throw WarehouseCatalog.sneak(e);
    }

    /** The parameters as SQL literals: `named`, an object, and `positional`, a list. */
    private static JsonNode values(ParameterContext parameters) {
        ObjectNode values = WarehouseLayout.JSON.createObjectNode();
        ObjectNode named = values.putObject("named");
        ArrayNode positional = values.putArray("positional");
        if (parameters instanceof NamedParameterContext) {
            Iterator all = ((NamedParameterContext) parameters).params().iterator();
            while (all.hasNext()) {
                Tuple2 one = (Tuple2) all.next();
                named.put((String) one._1(), ((Expression) one._2()).sql());
            }
        } else if (parameters instanceof PositionalParameterContext) {
            addAll(positional, ((PositionalParameterContext) parameters).params());
        } else {
            // EXECUTE IMMEDIATE … USING: a variable is a value with a name, and a positional one.
            HybridParameterContext both = (HybridParameterContext) parameters;
            addAll(positional, both.args());
            for (int i = 0; i < both.args().length(); i++) {
                named.put((String) both.paramNames().apply(i), ((Expression) both.args().apply(i)).sql());
            }
        }
        return values;
    }

    private static void addAll(ArrayNode literals, Seq values) {
        for (int i = 0; i < values.length(); i++) literals.add(((Expression) values.apply(i)).sql());
    }

    private static boolean isEmpty(ParameterContext parameters) {
        if (parameters instanceof NamedParameterContext) return ((NamedParameterContext) parameters).params().isEmpty();
        if (parameters instanceof PositionalParameterContext) return ((PositionalParameterContext) parameters).params().isEmpty();
        return ((HybridParameterContext) parameters).args().isEmpty();
    }

    // ---- delegated to Spark

    public TableIdentifier parseTableIdentifier(String text) throws ParseException {
        return spark.parseTableIdentifier(text);
    }

    public FunctionIdentifier parseFunctionIdentifier(String text) throws ParseException {
        return spark.parseFunctionIdentifier(text);
    }

    public Seq parseMultipartIdentifier(String text) throws ParseException {
        admitCatalogs(text);
        try {
            return spark.parseMultipartIdentifier(text);
        } catch (ParseException e) {
            String[] versioned = VersionedNames.split(text);
            if (versioned == null) throw e;
            return VersionedNames.withVersion(spark.parseMultipartIdentifier(versioned[0]), versioned[1]);
        }
    }

    public StructType parseRoutineParam(String text) throws ParseException {
        return spark.parseRoutineParam(text);
    }

    public StructType parseTableSchema(String text) throws ParseException {
        return spark.parseTableSchema(text);
    }

    public DataType parseDataType(String text) throws ParseException {
        return spark.parseDataType(text);
    }

    /**
     * A rewritten text, and the mapping of its positions to those of the user's text. Positions count code points,
     * not UTF-16 units, as in Spark's lexer and in Python.
     */
    private static class SqlPositions {

        private final String original;
        final String text;
        private final int[] characters;
        private final int[] starts;
        private final int[] stops;
        private final int[] lengths;

        /** `edits`: [[start, stop, replacement] …] in the order of the text, none overlapping another. */
        SqlPositions(String original, JsonNode edits) {
            this.original = original;
            starts = new int[edits.size()];
            stops = new int[edits.size()];
            lengths = new int[edits.size()];
            StringBuilder out = new StringBuilder();
            characters = original.codePoints().toArray();
            int from = 0;
            for (int i = 0; i < edits.size(); i++) {
                JsonNode edit = (JsonNode) edits.get(i);
                starts[i] = ((JsonNode) edit.get(0)).asInt();
                stops[i] = ((JsonNode) edit.get(1)).asInt();
                String replacement = ((JsonNode) edit.get(2)).asText();
                lengths[i] = replacement.codePointCount(0, replacement.length());
                out.append(new String(characters, from, starts[i] - from)).append(replacement);
                from = stops[i];
            }
            text = out.append(new String(characters, from, characters.length - from)).toString();
        }

        /** The position in the user's text; positions in a replacement map to the start of the replaced text. */
        int back(int index) {
            int shift = 0;
            for (int i = 0; i < starts.length; i++) {
                int start = starts[i] + shift;
                if (index < start) break;
                if (index < start + lengths[i]) return Math.min(starts[i] + Math.min(index - start, Math.max(stops[i] - starts[i] - 1, 0)), characters.length);
                shift += lengths[i] - (stops[i] - starts[i]);
            }
            return Math.max(0, Math.min(index - shift, characters.length));
        }

        /** Whether the range of the rewritten text contains a replacement and other text. */
        private boolean holdsEdit(int begin, int end) {
            int shift = 0;
            for (int i = 0; i < starts.length; i++) {
                int start = starts[i] + shift;
                int stop = start + lengths[i];
                if (begin <= start && stop <= end && (begin < start || stop < end)) return true;
                shift += lengths[i] - (stops[i] - starts[i]);
            }
            return false;
        }

        private Origin back(Origin o) {
            Option line = o.line();
            Option column = o.startPosition();
            if (line.isDefined() && column.isDefined()) {
                int place = back(index(text, ((Integer) line.get()).intValue(), ((Integer) column.get()).intValue()));
                int begin = 0;
                int number = 1;
                for (int i = 0; i < place; i++) {
                    if (characters[i] == '\n') {
                        number++;
                        begin = i + 1;
                    }
                }
                line = new Some(Integer.valueOf(number));
                column = new Some(Integer.valueOf(place - begin));
            }
            return new Origin(line, column, back(o.startIndex()), back(o.stopIndex()),
                o.sqlText().isDefined() ? new Some(original) : o.sqlText(), o.objectType(), o.objectName(), o.stackTrace(),
                o.pysparkErrorContext(), o.positionMapper());
        }

        private Option back(Option index) {
            return index.isDefined() ? new Some(Integer.valueOf(back(((Integer) index.get()).intValue()))) : index;
        }

        private static int index(String text, int line, int column) {
            int begin = 0;
            for (int i = 1; i < line; i++) {
                int next = text.indexOf('\n', begin);
                if (next < 0) break;
                begin = next + 1;
            }
            return text.codePointCount(0, begin) + column;
        }

        /** The exception with positions in the user's text. */
        ParseException restore(ParseException e) {
            ParseException out = new ParseException(new Some(original), back(e.start()), e.getCondition(), e.messageParameters(), new QueryContext[0]);
            out.setStackTrace(e.getStackTrace());
            return out;
        }

        /** Set the position in the user's text for every node below `root`; analysis errors report it. */
        void restore(Object root) {
            try {
                Field field = TreeNode.class.getDeclaredField("origin");
                field.setAccessible(true);
                restore(root, field, new IdentityHashMap());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("This Spark keeps positions elsewhere than 4.2 does", e);
            }
        }

        private void restore(Object node, Field field, IdentityHashMap seen) throws ReflectiveOperationException {
            if (node instanceof TreeNode) {
                if (seen.put(node, node) != null) return;
                field.set(node, back(((TreeNode) node).origin()));
                String kind = node.getClass().getSimpleName();
                if (kind.indexOf("View") >= 0 || kind.indexOf("Function") >= 0) restoreTexts(node);
            }
            Iterator parts = null;
            if (node instanceof Iterable) {
                parts = ((Iterable) node).iterator();
            } else if (node instanceof Product) {
                parts = ((Product) node).productIterator();
            }
            while (parts != null && parts.hasNext()) restore(parts.next(), field, seen);
        }

        /** Views and functions are stored as the user's text, which this parser parses again on use. */
        private void restoreTexts(Object node) throws ReflectiveOperationException {
            Field[] fields = node.getClass().getDeclaredFields();
            for (int i = 0; i < fields.length; i++) {
                if (Modifier.isStatic(fields[i].getModifiers())) continue;
                fields[i].setAccessible(true);
                Object value = fields[i].get(node);
                Object inside = value instanceof Some ? ((Some) value).value() : value;
                int at = inside instanceof String ? text.indexOf((String) inside) : -1;
                if (at < 0) continue;
                int begin = text.codePointCount(0, at);
                int end = text.codePointCount(0, at + ((String) inside).length());
                if (!holdsEdit(begin, end)) continue;
                int from = back(begin);
                int to = back(end);
                String own = new String(characters, from, Math.max(0, to - from));
                fields[i].set(node, value instanceof Some ? new Some(own) : own);
            }
        }
    }
}
