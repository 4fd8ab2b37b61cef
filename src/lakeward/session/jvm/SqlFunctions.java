package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.FunctionTableSubqueryArgumentExpression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedArgumentExpression;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.python.UserDefinedPythonFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** Functions of Databricks that Spark lacks. Python computes their values during analysis. */
public class SqlFunctions {

    /** Table functions; `stream_` is prepended to the name if STREAM precedes the call. */
    public static final String STREAM = "lakeward_stream_";
    /** The files of a COPY INTO statement whose source is a query. */
    private static final String COPIED = "lakeward_copied";
    /** DESCRIBE HISTORY in a query (sql/constructs/table_history.py). */
    private static final String HISTORY = "lakeward_history";
    /** A call of a function with LANGUAGE PYTHON: its definition, then its arguments (sql/constructs/python_functions.py). */
    private static final String PYTHON = "lakeward_python";
    private static final String[] RELATIONS = new String[] {"read_files", "cloud_files", "cloud_files_state", "event_log",
        "read_kafka", "read_statestore", "read_state_metadata", "list_secrets"};
    private static final String[] MEMBERS = new String[] {"is_member", "is_account_group_member"};
    private static final String VERSION = "current_version";
    private static final String METASTORE = "current_metastore";
    private static final String[] SECRETS = new String[] {"secret", "try_secret"};

    /** Aliases of Spark's functions. */
    private static final String[][] SAME = new String[][] {{"charindex", "locate"}, {"getdate", "now"}, {"iff", "if"}};

    static void register(SparkSessionExtensions all) {
        for (int i = 0; i < SAME.length; i++) all.injectFunction(described(SAME[i][0], new Same(SAME[i][1])));
        for (int i = 0; i < MEMBERS.length; i++) all.injectFunction(described(MEMBERS[i], new Member(MEMBERS[i])));
        for (int i = 0; i < SECRETS.length; i++) all.injectFunction(described(SECRETS[i], new Value(SECRETS[i])));
        all.injectFunction(described(VERSION, new Version()));
        all.injectFunction(described(METASTORE, new Value(METASTORE)));
        all.injectFunction(described(JsonSchemas.NAME, new JsonSchemas.Builder()));
        all.injectFunction(described(PYTHON, new PythonCall()));
        SchemaCalls.register(all);
        all.injectTableFunction(described(COPIED, new Relation("copied")));
        all.injectTableFunction(described(HISTORY, new Relation("history")));
        for (int i = 0; i < RELATIONS.length; i++) {
            all.injectTableFunction(described(RELATIONS[i], new Relation(RELATIONS[i])));
            all.injectTableFunction(described(STREAM + RELATIONS[i], new Relation("stream_" + RELATIONS[i])));
        }
    }

    /** The names under which users call them. */
    static List names() {
        List out = new ArrayList();
        for (int i = 0; i < SAME.length; i++) out.add(SAME[i][0]);
        out.addAll(Arrays.asList((Object[]) MEMBERS));
        out.addAll(Arrays.asList((Object[]) SECRETS));
        out.add(VERSION);
        out.add(METASTORE);
        out.add(JsonSchemas.NAME);
        out.addAll(Arrays.asList((Object[]) RELATIONS));
        return out;
    }

    static boolean isRelation(String name) {
        for (int i = 0; i < RELATIONS.length; i++) {
            if (RELATIONS[i].equalsIgnoreCase(name)) return true;
        }
        return false;
    }

    /** The builder of a function that is a static method of a class. */
    static class StaticMethod extends AbstractFunction1 {
        private final Class owner;
        private final String name;
        private final DataType result;
        private final DataType[] types;

        StaticMethod(Class owner, String name, DataType result, DataType[] types) {
            this.owner = owner;
            this.name = name;
            this.result = result;
            this.types = types;
        }

        public Object apply(Object arguments) {
            return new StaticInvoke(owner, result, name, (Seq) arguments, PythonUtils.toSeq(Arrays.asList((Object[]) types)),
                false, true, true, ObjectDefinitions.none());
        }
    }

    static Tuple3 described(String name, AbstractFunction1 builder) {
        return new Tuple3(new FunctionIdentifier(name), new ExpressionInfo("lakeward.SqlFunctions", name), builder);
    }

    /** The answer of Python: {"rows": [[…]]}, a Dataset or a Python UDF. */
    static Object ask(String name, Seq arguments) {
        ObjectNode call = WarehouseLayout.JSON.createObjectNode();
        call.put("name", "function." + name);
        ObjectNode given = call.putObject("arguments");
        ArrayNode positional = given.putArray("positional");
        ObjectNode named = given.putObject("named");
        for (int i = 0; i < arguments.length(); i++) {
            Expression e = (Expression) arguments.apply(i);
            if (e instanceof NamedArgumentExpression) {
                NamedArgumentExpression n = (NamedArgumentExpression) e;
                requireNew(name, n.key(), named);
                named.set(n.key(), constant(n.value()));
            } else {
                positional.add(constant(e));
            }
        }
        return ask(call, org.apache.spark.sql.SparkSession.active());
    }

    private static void requireNew(String function, String key, ObjectNode named) {
        for (Iterator i = named.fieldNames(); i.hasNext();) {
            if (!i.next().toString().equalsIgnoreCase(key)) continue;
            throw PythonSqlBridge.error("DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE", new String[] {
                "routineName", "`" + function.replaceFirst("^stream_", "") + "`", "parameterName", "`" + key + "`"});
        }
    }

    /** The answer to a call of a function: `name` and `arguments`. */
    static Object ask(ObjectNode call, Object session) {
        Object result = PythonSqlBridge.run(call.toString(), session);
        if (result instanceof Throwable) throw WarehouseCatalog.sneak((Throwable) result);
        if (!(result instanceof String)) return result;
        try {
            JsonNode json = WarehouseLayout.JSON.readTree((String) result);
            if (json.has("error")) throw PythonSqlBridge.error(json.get("error"));
            return json;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An argument as a value: a literal as text, a map as an object, a table by its name, others as SQL. */
    private static JsonNode constant(Expression e) {
        if (e instanceof FunctionTableSubqueryArgumentExpression) {
            LogicalPlan plan = ((FunctionTableSubqueryArgumentExpression) e).plan();
            if (plan instanceof SubqueryAlias) {
                return WarehouseLayout.JSON.createObjectNode().put("table", ((SubqueryAlias) plan).identifier().toString());
            }
        }
        if (!e.foldable() || !e.resolved()) {
            return WarehouseLayout.JSON.createObjectNode().put("not_constant", e.sql());
        }
        if (e.dataType() instanceof MapType) {
            ObjectNode map = WarehouseLayout.JSON.createObjectNode();
            org.apache.spark.sql.catalyst.util.MapData data = (org.apache.spark.sql.catalyst.util.MapData) e.eval(null);
            for (int i = 0; data != null && i < data.numElements(); i++) {
                map.put(data.keyArray().getUTF8String(i).toString(), data.valueArray().isNullAt(i) ? null : data.valueArray().getUTF8String(i).toString());
            }
            return map;
        }
        Object value = new Cast(e, DataTypes.StringType, new scala.Some("UTC")).eval(null);
        return value == null ? WarehouseLayout.JSON.nullNode() : WarehouseLayout.JSON.getNodeFactory().textNode(value.toString());
    }

    /** Functions that Spark has under another name. */
    public static class Same extends AbstractFunction1 {
        private final FunctionIdentifier name;

        Same(String name) {
            this.name = new FunctionIdentifier(name);
        }

        public Object apply(Object arguments) {
            return FunctionRegistry$.MODULE$.builtin().lookupFunction(name, (Seq) arguments);
        }
    }

    /** The Python UDF of a call; Python makes it from the definition. */
    public static class PythonCall extends AbstractFunction1 {
        public Object apply(Object arguments) {
            Seq all = (Seq) arguments;
            Object function = ask("python_function", PythonUtils.toSeq(Arrays.asList(new Object[] {all.apply(0)})));
            return ((UserDefinedPythonFunction) function).builder((Seq) all.drop(1));
        }
    }

    /** Whether the user is a member of a group; the argument may be a column. */
    public static class Member extends AbstractFunction1 {
        private final String name;

        Member(String name) {
            this.name = name;
        }

        public Object apply(Object arguments) {
            int given = ((Seq) arguments).length();
            if (given != 1) {
                throw PythonSqlBridge.error("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", new String[] {"functionName", "`" + name + "`",
                    "expectedNum", "1", "actualNum", String.valueOf(given), "docroot", "https://spark.apache.org/docs/latest"});
            }
            JsonNode groups = ((JsonNode) ask("groups", ObjectDefinitions.seq(null))).get("rows");
            List names = new ArrayList();
            for (int i = 0; i < groups.size(); i++) names.add(text(((JsonNode) ((JsonNode) groups.get(i)).get(0)).asText()));
            return new In((Expression) ((Seq) arguments).apply(0), PythonUtils.toSeq(names));
        }
    }

    /** A constant. */
    public static class Value extends AbstractFunction1 {
        private final String name;

        Value(String name) {
            this.name = name;
        }

        public Object apply(Object arguments) {
            JsonNode rows = ((JsonNode) ask(name, (Seq) arguments)).get("rows");
            JsonNode value = (JsonNode) ((JsonNode) rows.get(0)).get(0);
            return value.isNull() ? new Literal(null, DataTypes.StringType) : text(value.asText());
        }
    }

    /** The fields of current_version(): strings and NULL, by name. */
    public static class Version extends AbstractFunction1 {
        public Object apply(Object arguments) {
            JsonNode rows = ((JsonNode) ask("current_version", (Seq) arguments)).get("rows");
            List fields = new ArrayList();
            for (int i = 0; i < rows.size(); i++) {
                JsonNode value = (JsonNode) ((JsonNode) rows.get(i)).get(1);
                fields.add(text(((JsonNode) ((JsonNode) rows.get(i)).get(0)).asText()));
                fields.add(value.isNull() ? new Literal(null, DataTypes.StringType) : text(value.asText()));
            }
            return new CreateNamedStruct(PythonUtils.toSeq(fields));
        }
    }

    /** The plan of the DataFrame that Python builds. */
    public static class Relation extends AbstractFunction1 {
        private final String name;

        Relation(String name) {
            this.name = name;
        }

        public Object apply(Object arguments) {
            return ((Dataset) ask(name, (Seq) arguments)).queryExecution().analyzed();
        }
    }

    private static Literal text(String value) {
        return new Literal(UTF8String.fromString(value), DataTypes.StringType);
    }
}
