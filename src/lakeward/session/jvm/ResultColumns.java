package lakeward;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.Seq;

/**
 * The columns of a query, renamed to c0, c1 … and converted, in one call: built from Python, each column
 * costs a dozen round trips.
 */
public class ResultColumns {

    /**
     * Select all columns of `frame`. `conversions` has a line for each column, with fields between tabs:
     * nothing (as it is), "string", "date_format" and a pattern, "base64", "st_asewkt", or "to_json" with a type in JSON
     * (none leaves the type as it is) and pairs of option and value.
     */
    public static Dataset select(Dataset frame, String conversions) {
        String[] lines = conversions.split("\n", -1);
        // The attributes themselves: names may be ambiguous, and renaming them first would be one more analysis.
        Seq attributes = frame.queryExecution().analyzed().output();
        Column[] columns = new Column[lines.length];
        for (int k = 0; k < columns.length; k++) {
            Column column = ExpressionUtils.column((Expression) attributes.apply(k));
            columns[k] = converted(column, lines[k].split("\t", -1)).as("c" + k);
        }
        return frame.select(columns);
    }

    private static Column converted(Column column, String[] conversion) {
        String kind = conversion[0];
        if (kind.equals("string")) return column.cast("string");
        if (kind.equals("date_format")) return functions.date_format(column, conversion[1]);
        if (kind.equals("base64")) return functions.base64(column);
        if (kind.equals("st_asewkt")) return functions.call_function(kind, new Column[] {column});
        if (kind.equals("to_json")) {
            Map options = new HashMap();
            for (int k = 2; k < conversion.length; k += 2) options.put(conversion[k], conversion[k + 1]);
            return functions.to_json(conversion[1].isEmpty() ? column : column.cast(DataType.fromJson(conversion[1])), options);
        }
        return column;
    }
}
