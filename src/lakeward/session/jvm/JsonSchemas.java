package lakeward;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.TreeMap;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.QueryContext;
import org.apache.spark.SparkRuntimeException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.json.CreateJacksonParser;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JsonInferSchema;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * `schema_of_json_agg(text [, options])`: the schema that all JSON texts of a group have in common, as DDL. Types are
 * inferred and merged as by Spark's `schema_of_json` and its JSON reader.
 * Source: https://docs.databricks.com/aws/en/sql/language-manual/functions/schema_of_json_agg
 */
public class JsonSchemas implements AggregateCall.Function {

    public static final String NAME = "schema_of_json_agg";

    /** Of the texts that are not NULL. */
    public static class Builder extends AbstractFunction1 {
        public Object apply(Object arguments) {
            Seq all = (Seq) arguments;
            if (all.length() < 1 || all.length() > 2) {
                throw PythonSqlBridge.error("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", new String[] {"functionName", "`" + NAME + "`",
                    "expectedNum", "[1, 2]", "actualNum", String.valueOf(all.length()), "docroot", "https://spark.apache.org/docs/latest"});
            }
            Expression text = (Expression) all.apply(0);
            if (!(text.dataType() instanceof StringType)) text = new Cast(text, DataTypes.StringType, ObjectDefinitions.none(), EvalMode.ANSI());
            Object[] values = all.length() == 1 ? new Object[] {text} : new Object[] {text, all.apply(1)};
            HashMap options = all.length() == 1 ? new HashMap() : options((Expression) all.apply(1));
            return new AggregateCall(new JsonSchemas(options), PythonUtils.toSeq(Arrays.asList(values)), 0, 0);
        }

        /** As for `schema_of_json`: a constant. */
        private static HashMap options(Expression given) {
            if (!given.foldable() || !(given.dataType() instanceof MapType)) {
                throw PythonSqlBridge.error(WarehouseLayout.JSON.createObjectNode().put("condition", "INVALID_OPTIONS.NON_MAP_FUNCTION").put("sqlState", "42K06")
                    .put("message", "Invalid options: " + NAME + " needs a constant `map()`."));
            }
            MapData entries = (MapData) given.eval(null);
            HashMap options = new HashMap();
            for (int i = 0; i < entries.numElements(); i++) {
                options.put(entries.keyArray().getUTF8String(i).toString(), entries.valueArray().getUTF8String(i).toString());
            }
            return options;
        }
    }

    /** The type of the texts so far. */
    public static class State implements Serializable {
        public DataType found = DataTypes.NullType;
    }

    private final HashMap given;
    /** Made once in each task: not for each row. */
    private transient JSONOptions options;
    private transient JsonInferSchema inference;

    JsonSchemas(HashMap given) {
        this.given = given;
    }

    private void prepare() {
        if (options != null) return;
        options = new JSONOptions(PythonUtils.toScalaMap(given), "UTC", "");
        inference = new JsonInferSchema(options);
    }

    public String name() {
        return NAME;
    }

    public String canonicalName() {
        return "lakeward." + NAME + new TreeMap(given);
    }

    public boolean equals(Object other) {
        return other instanceof JsonSchemas && ((JsonSchemas) other).given.equals(given);
    }

    public int hashCode() {
        return given.hashCode();
    }

    public DataType[] inputTypes() {
        return new DataType[] {DataTypes.StringType};
    }

    public DataType resultType() {
        return DataTypes.StringType;
    }

    public Serializable newAggregationState() {
        return new State();
    }

    public Serializable update(Serializable before, InternalRow row) {
        if (row.isNullAt(0)) return before;
        try {
            prepare();
            return add((State) before, inferred(inference, options, row.getUTF8String(0)));
        } catch (IOException malformed) {
            throw new SparkRuntimeException("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", ObjectDefinitions.scalaMap(
                WarehouseLayout.JSON.createObjectNode().put("badRecord", row.getUTF8String(0).toString()).put("failFastMode", "FAILFAST")),
                malformed, new QueryContext[0], (Option) ObjectDefinitions.none());
        }
    }

    private static State add(State state, DataType next) {
        state.found = JsonInferSchema.compatibleType(state.found, next, DataTypes.StringType);
        return state;
    }

    public Serializable merge(Serializable one, Serializable other) {
        return add((State) one, ((State) other).found);
    }

    public Object produceResult(Serializable end) {
        prepare();
        return UTF8String.fromString(canonical(inference, options, ((State) end).found).sql());
    }

    /** The builder has made the argument a text already. */
    public Seq accepted(Seq arguments) {
        ArrayList types = new ArrayList();
        for (int i = 0; i < arguments.length(); i++) types.add(((Expression) arguments.apply(i)).dataType());
        return PythonUtils.toSeq(types);
    }

    private static DataType inferred(JsonInferSchema inference, JSONOptions options, UTF8String text) throws IOException {
        JsonParser parser = CreateJacksonParser.utf8String(options.buildJsonFactory(), text);
        try {
            parser.nextToken();
            return inference.inferField(parser);
        } finally {
            parser.close();
        }
    }

    /** Without fields of no type, as schema_of_json. */
    private static DataType canonical(JsonInferSchema inference, JSONOptions options, DataType type) {
        Option known = inference.canonicalizeType(type, options);
        if (known.isDefined()) return (DataType) known.get();
        DataType empty = new StructType(new StructField[0]);
        if (type instanceof StructType) return empty;
        return type instanceof ArrayType ? DataTypes.createArrayType(empty) : DataTypes.StringType;
    }
}
