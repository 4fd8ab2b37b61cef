package lakeward;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.CollectList;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.json.CreateJacksonParser;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JsonInferSchema;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
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
public class JsonSchemas {

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
            Expression texts = new CollectList(text).toAggregateExpression();
            Object[] values = all.length() == 1 ? new Object[] {texts} : new Object[] {texts, all.apply(1)};
            return new StaticInvoke(JsonSchemas.class, DataTypes.StringType, "of", PythonUtils.toSeq(Arrays.asList(values)),
                PythonUtils.toSeq(Collections.emptyList()), true, true, true, ObjectDefinitions.none());
        }
    }

    public static UTF8String of(ArrayData texts) throws IOException {
        return of(texts, new HashMap());
    }

    public static UTF8String of(ArrayData texts, MapData given) throws IOException {
        Map options = new HashMap();
        for (int i = 0; i < given.numElements(); i++) {
            options.put(given.keyArray().getUTF8String(i).toString(), given.valueArray().getUTF8String(i).toString());
        }
        return of(texts, options);
    }

    private static UTF8String of(ArrayData texts, Map given) throws IOException {
        JSONOptions options = new JSONOptions(PythonUtils.toScalaMap(given), "UTC", "");
        JsonInferSchema inference = new JsonInferSchema(options);
        DataType found = DataTypes.NullType;
        for (int i = 0; i < texts.numElements(); i++) {
            DataType next = inferred(inference, options, texts.getUTF8String(i));
            found = JsonInferSchema.compatibleType(found, next, DataTypes.StringType);
        }
        return UTF8String.fromString(canonical(inference, options, found).sql());
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
