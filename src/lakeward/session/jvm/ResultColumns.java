package lakeward;

import java.time.Duration;
import java.time.Period;
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
     * nothing (as it is), "string", "date_format" and a pattern, "base64", "st_asewkt", "day_time" or "year_month"
     * (an interval as Hive writes it), or "to_json" with a type in JSON (none leaves the type as it is) and pairs
     * of option and value.
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
        if (kind.equals("day_time")) return dayTime(column);
        if (kind.equals("year_month")) return yearMonth(column);
        if (kind.equals("to_json")) {
            Map options = new HashMap();
            for (int k = 2; k < conversion.length; k += 2) options.put(conversion[k], conversion[k + 1]);
            return functions.to_json(conversion[1].isEmpty() ? column : column.cast(DataType.fromJson(conversion[1])), options);
        }
        return column;
    }

    private static Column dayTime(Column column) {
        Column value = functions.abs(column.cast("interval day to second"));
        Column seconds = functions.date_part(functions.lit("SECOND"), value);
        Column micros = seconds.multiply(functions.lit(1000000)).cast("long");
        return text("%s%d %02d:%02d:%02d.%06d000", column, column.lt(functions.lit(Duration.ZERO)), new Column[] {
            part("DAY", value), part("HOUR", value), part("MINUTE", value),
            functions.floor(micros.divide(functions.lit(1000000))), micros.mod(functions.lit(1000000))});
    }

    private static Column yearMonth(Column column) {
        Column value = functions.abs(column.cast("interval year to month"));
        return text("%s%d-%d", column, column.lt(functions.lit(Period.ZERO)), new Column[] {
            part("YEAR", value), part("MONTH", value)});
    }

    private static Column part(String unit, Column interval) {
        return functions.date_part(functions.lit(unit), interval);
    }

    private static Column text(String format, Column column, Column negative, Column[] parts) {
        Column[] all = new Column[parts.length + 1];
        all[0] = functions.when(negative, functions.lit("-")).otherwise(functions.lit(""));
        System.arraycopy(parts, 0, all, 1, parts.length);
        return functions.when(column.isNotNull(), functions.format_string(format, all));
    }
}
