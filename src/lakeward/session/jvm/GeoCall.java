package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.GeographyType;
import org.apache.spark.sql.types.GeographyType$;
import org.apache.spark.sql.types.GeometryType;
import org.apache.spark.sql.types.GeometryType$;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A call of a function, named in results as it is written; computed once if its arguments are constant. */
public class GeoCall extends ApplyFunctionExpression {

    /** Spark copies expressions by the constructor with these arguments. */
    public GeoCall(ScalarFunction function, Seq children) {
        super(function, children);
    }

    /** Of geometries the kind, not the SRID: Spark tries to cast other types to a type with an SRID. */
    public Seq inputTypes() {
        List out = new ArrayList();
        DataType[] types = function().inputTypes();
        for (int i = 0; i < types.length; i++) out.add(kind(types[i]));
        return PythonUtils.toSeq(out);
    }

    static Object kind(DataType type) {
        if (type instanceof GeometryType) return GeometryType$.MODULE$;
        return type instanceof GeographyType ? (Object) GeographyType$.MODULE$ : type;
    }

    public String prettyName() {
        return function().name();
    }

    /** In plans: without the object of the function. */
    public String toString() {
        return prettyName() + children().mkString("(", ", ", ")");
    }

    public Expression withNewChildrenInternal(IndexedSeq children) {
        return new GeoCall(function(), children);
    }
}
