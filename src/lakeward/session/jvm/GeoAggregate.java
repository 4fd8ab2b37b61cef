package lakeward;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.GeometryType$;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.geom.Geometry;
import scala.collection.immutable.Seq;

/** `st_union_agg` and `st_envelope_agg`: of all geometries that are not NULL; NULL without any. */
public class GeoAggregate implements AggregateCall.Function {

    static final String UNION = "st_union_agg";
    static final String ENVELOPE = "st_envelope_agg";

    private final String name;
    private final DataType type;

    GeoAggregate(String name, DataType type) {
        this.name = name;
        this.type = type;
    }

    /** What was seen so far: the shapes, or their box. */
    public static class State implements Serializable {
        public boolean isEmpty = true;
        public int srid;
        public Envelope box = new Envelope();
        public ArrayList shapes = new ArrayList();
    }

    public String name() {
        return name;
    }

    public String canonicalName() {
        return "lakeward." + name + type;
    }

    public boolean equals(Object other) {
        return other instanceof GeoAggregate && ((GeoAggregate) other).canonicalName().equals(canonicalName());
    }

    public int hashCode() {
        return canonicalName().hashCode();
    }

    public DataType[] inputTypes() {
        return new DataType[] {type};
    }

    public DataType resultType() {
        return type;
    }

    public Serializable newAggregationState() {
        return new State();
    }

    public Serializable update(Serializable before, InternalRow row) {
        State state = (State) before;
        if (row.isNullAt(0)) return state;
        GeoValue value = GeoStorage.read(row.get(0, type), type);
        requireSrid(state, value.srid);
        if (name.equals(UNION)) state.shapes.add(value.shape);
        else state.box.expandToInclude(value.shape.getEnvelopeInternal());
        return state;
    }

    private void requireSrid(State state, int srid) {
        if (!state.isEmpty && state.srid != srid) throw GeoErrors.srids(name, state.srid, srid);
        state.isEmpty = false;
        state.srid = srid;
    }

    public Serializable merge(Serializable one, Serializable other) {
        State state = (State) one;
        State more = (State) other;
        if (more.isEmpty) return state;
        requireSrid(state, more.srid);
        state.box.expandToInclude(more.box);
        state.shapes.addAll(more.shapes);
        return state;
    }

    public Object produceResult(Serializable end) {
        State state = (State) end;
        if (state.isEmpty) return null;
        Geometry shape = name.equals(UNION) ? GeoOverlay.union(state.shapes)
            : state.box.isNull() ? GeoValue.FACTORY.createPolygon() : GeoValue.FACTORY.toGeometry(state.box);
        return GeoStorage.write(new GeoValue(shape, false, false, state.srid, false));
    }

    public Seq accepted(Seq arguments) {
        return PythonUtils.toSeq(Collections.singletonList(GeometryType$.MODULE$));
    }
}
