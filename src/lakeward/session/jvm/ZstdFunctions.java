package lakeward;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.errors.QueryCompilationErrors;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StringType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Functions that compress and decompress with Zstandard, by the library that Spark has for its own files.
 * Source: https://docs.databricks.com/aws/en/sql/language-manual/functions/zstd_compress and its siblings
 */
public class ZstdFunctions {

    static final String[] NAMES = new String[] {"zstd_compress", "zstd_decompress", "try_zstd_decompress"};

    static void register(SparkSessionExtensions all) {
        for (int i = 0; i < NAMES.length; i++) all.injectFunction(SqlFunctions.described(NAMES[i], new Builder(NAMES[i], i == 0)));
    }

    static byte[] compress(byte[] value, int level, boolean isStream) {
        if (level < Zstd.minCompressionLevel() || level > Zstd.maxCompressionLevel()) {
            throw PythonSqlBridge.error("INVALID_PARAMETER_VALUE", "22023", "The value of parameter(s) `level` in `zstd_compress` is invalid: "
                + "expects a level up to " + Zstd.maxCompressionLevel() + ", but got " + level + ".");
        }
        if (!isStream) return Zstd.compress(value, level);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            ZstdOutputStream stream = new ZstdOutputStream(out, level);
            stream.write(value);
            stream.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    static byte[] decompress(byte[] value) {
        byte[] found = tryDecompress(value);
        if (found != null) return found;
        throw PythonSqlBridge.error("INVALID_PARAMETER_VALUE.ZSTD_DECOMPRESS_INPUT",
            new String[] {"parameter", "`input`", "functionName", "`zstd_decompress`", "message", "expects valid zstd-compressed data."});
    }

    /** The decompressed value, null for bytes that are not whole frames. */
    static byte[] tryDecompress(byte[] value) {
        if (value.length == 0) return null;
        try {
            // The size is not in frames that were written as a stream.
            ZstdInputStream stream = new ZstdInputStream(new ByteArrayInputStream(value));
            byte[] found = stream.readAllBytes();
            stream.close();
            return found;
        } catch (IOException e) {
            return null;
        }
    }

    /** Makes a call: values may be STRING, levels of any numeric type. */
    public static class Builder extends AbstractFunction1 {
        private final String name;
        private final boolean compresses;

        Builder(String name, boolean compresses) {
            this.name = name;
            this.compresses = compresses;
        }

        public Object apply(Object arguments) {
            Seq given = (Seq) arguments;
            int count = given.length();
            if (count < 1 || count > (compresses ? 3 : 1)) {
                List valid = new ArrayList();
                for (int i = 1; i <= (compresses ? 3 : 1); i++) valid.add(Integer.valueOf(i));
                throw WarehouseCatalog.sneak(QueryCompilationErrors.wrongNumArgsError(name, PythonUtils.toSeq(valid), count, "", "", ""));
            }
            List all = new ArrayList();
            all.add(cast((Expression) given.apply(0), StringType.class, DataTypes.BinaryType));
            if (count > 1) all.add(cast((Expression) given.apply(1), NumericType.class, DataTypes.IntegerType));
            if (count > 2) all.add(given.apply(2));
            return new GeoCall(new Function(name, count), PythonUtils.toSeq(all));
        }

        private static Expression cast(Expression argument, Class from, DataType target) {
            if (!argument.resolved() || !from.isInstance(argument.dataType())) return argument;
            return Cast$.MODULE$.apply(argument, target, Option.empty(), EvalMode$.MODULE$.ANSI());
        }
    }

    /** A function with as many arguments as a call has; the result is NULL if one of them is. */
    public static class Function implements ScalarFunction {
        private static final DataType[] TYPES = new DataType[] {DataTypes.BinaryType, DataTypes.IntegerType, DataTypes.BooleanType};
        private final String name;
        private final int count;

        Function(String name, int count) {
            this.name = name;
            this.count = count;
        }

        public DataType[] inputTypes() {
            return (DataType[]) Arrays.copyOf(TYPES, count);
        }

        public DataType resultType() {
            return DataTypes.BinaryType;
        }

        public String name() {
            return name;
        }

        public Object produceResult(InternalRow row) {
            for (int i = 0; i < count; i++) if (row.isNullAt(i)) return null;
            byte[] value = row.getBinary(0);
            if (name.equals("zstd_decompress")) return decompress(value);
            if (name.equals("try_zstd_decompress")) return tryDecompress(value);
            return compress(value, count > 1 ? row.getInt(1) : 3, count > 2 && row.getBoolean(2));
        }
    }
}
