package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Some;
import scala.Tuple2;
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
        return (LogicalPlan) parse(text, PLAN, isEmpty(parameters) ? null : parameters);
    }

    private Object parse(String text, int what, ParameterContext parameters) throws ParseException {
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
                if (answer == null) throw WarehouseCatalog.sneak(e);
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
        return parameters == null ? spark.parsePlan(text) : withParameters(text, parameters);
    }

    /** Delta's parser, which wraps Spark's, does not support parameters: they are substituted here. */
    private LogicalPlan withParameters(String text, ParameterContext parameters) throws ParseException {
        Tuple2 substituted = ParameterHandler.substituteParameters(text, parameters);
        Origin before = CurrentOrigin.get();
        CurrentOrigin.set(new Origin(before.line(), before.startPosition(), new Some(Integer.valueOf(0)),
            new Some(Integer.valueOf(text.length() - 1)), new Some(substituted._1()), before.objectType(), before.objectName(),
            before.stackTrace(), before.pysparkErrorContext(), new Some(substituted._2())));
        try {
            return spark.parsePlan((String) substituted._1());
        } finally {
            CurrentOrigin.set(before);
        }
    }

    /** The parameters as SQL literals: an object by name, or a list. */
    private static JsonNode values(ParameterContext parameters) {
        if (parameters instanceof NamedParameterContext) {
            ObjectNode named = WarehouseLayout.JSON.createObjectNode();
            Iterator all = ((NamedParameterContext) parameters).params().iterator();
            while (all.hasNext()) {
                Tuple2 one = (Tuple2) all.next();
                named.put((String) one._1(), ((Expression) one._2()).sql());
            }
            return named;
        }
        ArrayNode listed = WarehouseLayout.JSON.createArrayNode();
        Seq all = parameters instanceof PositionalParameterContext ? ((PositionalParameterContext) parameters).params()
            : ((HybridParameterContext) parameters).args();
        for (int i = 0; i < all.length(); i++) listed.add(((Expression) all.apply(i)).sql());
        return listed;
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
        return spark.parseMultipartIdentifier(text);
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
}
