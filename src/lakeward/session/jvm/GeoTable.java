package lakeward;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.errors.QueryCompilationErrors;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.GeographyType;
import org.apache.spark.sql.types.GeographyType$;
import org.apache.spark.sql.types.GeometryType;
import org.apache.spark.sql.types.GeometryType$;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** The table of functions of geometries (geospatial_functions.txt), and the types that a call has by it. */
public class GeoTable {

    private static final String FILE = "/lakeward/geospatial_functions.txt";
    private static final Pattern LINE = Pattern.compile("(\\w+)\\((.*)\\) -> (\\S+)");
    private static final DataType ANY_GEOMETRY = GeometryType$.MODULE$.apply("ANY");
    private static final DataType ANY_GEOGRAPHY = GeographyType$.MODULE$.apply("ANY");
    private static final Map ROWS = rows();

    private GeoTable() {
    }

    private static Map rows() {
        Map out = new LinkedHashMap();
        try {
            BufferedReader lines = new BufferedReader(new InputStreamReader(GeoTable.class.getResourceAsStream(FILE), StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher row = LINE.matcher(line);
                if (row.matches()) out.put(row.group(1), new Row(row.group(1), row.group(2).split(", "), row.group(3)));
            }
            lines.close();
            return out;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Set names() {
        return ROWS.keySet();
    }

    static void register(SparkSessionExtensions all) {
        for (Iterator each = ROWS.values().iterator(); each.hasNext();) {
            Row row = (Row) each.next();
            all.injectFunction(SqlFunctions.described(row.name, row));
        }
    }

    /** The call of a function with one argument. */
    static Object call(String name, Object argument) {
        Seq all = PythonUtils.toSeq(Collections.singletonList(argument));
        if (!name.equals(GeoConstructors.TEXTS)) return ((Row) ROWS.get(name)).apply(all);
        DataType[] types = new DataType[] {((Expression) argument).dataType()};
        return new GeoCall(new GeoFunction(name, new String[] {"geometries"}, 1, types, new ArrayType(DataTypes.StringType, true)), all);
    }

    /** A function: the builder of its calls. */
    public static class Row extends AbstractFunction1 {
        final String name;
        final String[] codes;
        final String result;

        Row(String name, String[] codes, String result) {
            this.name = name;
            this.codes = codes;
            this.result = result;
        }

        public Object apply(Object arguments) {
            Seq all = (Seq) arguments;
            requireCount(all.length());
            DataType[] given = new DataType[all.length()];
            DataType[] types = new DataType[all.length()];
            for (int i = 0; i < given.length; i++) given[i] = ((Expression) all.apply(i)).dataType();
            String[] own = new String[given.length];
            for (int i = 0; i < given.length; i++) {
                own[i] = code(i);
                types[i] = type(own[i], given, i);
            }
            if (name.endsWith("_agg")) return new AggregateCall(new GeoAggregate(name, types[0]), all, 0, 0);
            return new GeoCall(new GeoFunction(name, own, codes.length, types, resultType(types, all)), all);
        }

        private void requireCount(int n) {
            int least = 0;
            for (int i = 0; i < codes.length; i++) if (!codes[i].endsWith("?")) least++;
            if (n >= least && n <= codes.length) return;
            ArrayList valid = new ArrayList();
            for (int i = least; i <= codes.length; i++) valid.add(Integer.valueOf(i));
            throw WarehouseCatalog.sneak(QueryCompilationErrors.wrongNumArgsError(name, PythonUtils.toSeq(valid), n,
                "", "", ""));
        }

        String code(int i) {
            return codes[i].endsWith("?") ? codes[i].substring(0, codes[i].length() - 1) : codes[i];
        }

        /** The type of an argument, to which Spark casts implicitly, or raises DATATYPE_MISMATCH. */
        private DataType type(String code, DataType[] given, int at) {
            DataType own = given[at];
            if (code.equals("geometry")) return own instanceof GeometryType ? own : ANY_GEOMETRY;
            if (code.equals("geography")) return own instanceof GeographyType ? own : ANY_GEOGRAPHY;
            if (code.equals("geo")) return either(given, at);
            if (code.equals("geometries")) return isGeometries(own) ? own : new ArrayType(ANY_GEOMETRY, true);
            if (code.equals("cell")) return own instanceof StringType ? own : DataTypes.LongType;
            if (code.equals("cells")) return new ArrayType(isStrings(own) ? DataTypes.StringType : DataTypes.LongType, true);
            if (code.equals("text") && own instanceof BinaryType) return own;
            if (code.equals("text") || code.equals("string")) return own instanceof StringType ? own : DataTypes.StringType;
            return scalar(code);
        }

        private DataType either(DataType[] given, int at) {
            boolean geography = false;
            for (int i = 0; i <= at && !geography; i++) {
                if (code(i).equals("geo") && given[i] instanceof GeometryType) break;
                geography = code(i).equals("geo") && given[i] instanceof GeographyType;
            }
            if (geography) return given[at] instanceof GeographyType ? given[at] : ANY_GEOGRAPHY;
            return given[at] instanceof GeometryType ? given[at] : ANY_GEOMETRY;
        }

        private DataType resultType(DataType[] types, Seq arguments) {
            if (result.equals("same")) return first(types);
            if (result.equals("array<same>")) return new ArrayType(first(types), true);
            if (result.equals("cell")) return cell(types);
            if (result.equals("cells")) return new ArrayType(cell(types), true);
            if (result.equals("rings")) {
                return new ArrayType(new StructType().add("cellid", cell(types)).add("distance", DataTypes.IntegerType), true);
            }
            if (result.equals("geometry(srid)")) return withConstantSrid(arguments);
            if (result.equals("geometry(any)")) return ANY_GEOMETRY;
            if (result.equals("geography(any)")) return ANY_GEOGRAPHY;
            if (result.equals("geography(4326)")) return GeographyType$.MODULE$.apply(4326);
            if (result.equals("geometry(4326)")) return GeometryType$.MODULE$.apply(4326);
            if (result.equals("geometry(0)")) return GeometryType$.MODULE$.apply(0);
            return scalar(result);
        }

        /** The common type of the geometries: with their SRID if the types have the same one. */
        private static DataType first(DataType[] types) {
            DataType found = null;
            for (int i = 0; i < types.length; i++) {
                DataType each = types[i] instanceof ArrayType ? ((ArrayType) types[i]).elementType() : types[i];
                if (!(each instanceof GeometryType || each instanceof GeographyType)) continue;
                if (found != null && !found.equals(each)) return found instanceof GeometryType ? ANY_GEOMETRY : ANY_GEOGRAPHY;
                found = each;
            }
            return found;
        }

        /** The form of the cells of a call. */
        private static DataType cell(DataType[] types) {
            return types[0] instanceof StringType || isStrings(types[0]) ? DataTypes.StringType : DataTypes.LongType;
        }

        private DataType withConstantSrid(Seq arguments) {
            int at = 0;
            while (!code(at).equals("srid")) at++;
            if (at >= arguments.length()) return GeometryType$.MODULE$.apply(0);
            Expression srid = (Expression) arguments.apply(at);
            if (!srid.foldable() || !srid.resolved()) return ANY_GEOMETRY;
            Object value = new Cast(srid, DataTypes.StringType, new scala.Some("UTC")).eval(null);
            try {
                int number = value == null ? -1 : Integer.parseInt(value.toString());
                return GeometryType.isSridSupported(number) ? (DataType) GeometryType$.MODULE$.apply(number) : ANY_GEOMETRY;
            } catch (NumberFormatException e) {
                return ANY_GEOMETRY;
            }
        }
    }

    static boolean isGeometries(DataType type) {
        return type instanceof ArrayType && ((ArrayType) type).elementType() instanceof GeometryType;
    }

    static boolean isStrings(DataType type) {
        return type instanceof ArrayType && ((ArrayType) type).elementType() instanceof StringType;
    }

    static DataType scalar(String code) {
        if (code.equals("srid")) return DataTypes.IntegerType;
        return DataType.fromDDL(code);
    }
}
