package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LineString;
import org.locationtech.jts.geom.Point;
import org.locationtech.jts.geom.Polygon;
import org.locationtech.jts.geom.util.AffineTransformation;

/** Functions that return a part or a property of a geometry, or change single points of it. */
public class GeoAccessors {

    private GeoAccessors() {
    }

    private static GeoValue geo(Object[] a) {
        return (GeoValue) a[0];
    }

    static GeoValue ofType(Object value, int type, String function, int argument) {
        GeoValue geo = (GeoValue) value;
        if (geo.type() != type) throw GeoErrors.type(function, argument, "ST_" + GeoValue.NAMES[type]);
        return geo;
    }

    /** The coordinates of a point; null for an empty one. */
    private static CoordinateSequence point(Object[] a, String function) {
        CoordinateSequence at = ((Point) ofType(a[0], GeoValue.POINT, function, 1).shape).getCoordinateSequence();
        return at.size() == 0 ? null : at;
    }

    static Object st_x(Object[] a) {
        CoordinateSequence at = point(a, "st_x");
        return at == null ? null : Double.valueOf(at.getX(0));
    }

    static Object st_y(Object[] a) {
        CoordinateSequence at = point(a, "st_y");
        return at == null ? null : Double.valueOf(at.getY(0));
    }

    static Object st_z(Object[] a) {
        CoordinateSequence at = point(a, "st_z");
        return at == null || !geo(a).z ? null : Double.valueOf(at.getZ(0));
    }

    static Object st_m(Object[] a) {
        CoordinateSequence at = point(a, "st_m");
        return at == null || !geo(a).m ? null : Double.valueOf(at.getM(0));
    }

    static Object st_xmin(Object[] a) {
        return bound(a, 0);
    }

    static Object st_xmax(Object[] a) {
        return bound(a, 1);
    }

    static Object st_ymin(Object[] a) {
        return bound(a, 2);
    }

    static Object st_ymax(Object[] a) {
        return bound(a, 3);
    }

    private static Double bound(Object[] a, int which) {
        Envelope box = geo(a).shape.getEnvelopeInternal();
        if (box.isNull()) return null;
        if (which < 2) return Double.valueOf(which == 0 ? box.getMinX() : box.getMaxX());
        return Double.valueOf(which == 2 ? box.getMinY() : box.getMaxY());
    }

    static Object st_zmin(Object[] a) {
        GeoShapes.Heights heights = heights(a);
        return heights == null ? null : Double.valueOf(heights.least);
    }

    static Object st_zmax(Object[] a) {
        GeoShapes.Heights heights = heights(a);
        return heights == null ? null : Double.valueOf(heights.most);
    }

    private static GeoShapes.Heights heights(Object[] a) {
        if (!geo(a).z || geo(a).shape.isEmpty()) return null;
        GeoShapes.Heights out = new GeoShapes.Heights();
        geo(a).shape.apply(out);
        return out;
    }

    static Object st_ndims(Object[] a) {
        return Integer.valueOf(geo(a).dimensions());
    }

    static Object st_npoints(Object[] a) {
        return Integer.valueOf(geo(a).shape.getNumPoints());
    }

    /** Of an empty collection 0. */
    static Object st_dimension(Object[] a) {
        return Integer.valueOf(Math.max(0, geo(a).shape.getDimension()));
    }

    static Object st_geometrytype(Object[] a) {
        return "ST_" + geo(a).name();
    }

    static Object st_isempty(Object[] a) {
        return Boolean.valueOf(geo(a).shape.isEmpty());
    }

    static Object st_isvalid(Object[] a) {
        return Boolean.valueOf(geo(a).shape.isValid());
    }

    private static boolean isMulti(GeoValue value) {
        return value.type() > GeoValue.POLYGON;
    }

    static Object st_numgeometries(Object[] a) {
        if (isMulti(geo(a))) return Integer.valueOf(geo(a).shape.getNumGeometries());
        return Integer.valueOf(geo(a).shape.isEmpty() ? 0 : 1);
    }

    static Object st_geometryn(Object[] a) {
        GeoValue value = geo(a);
        int n = ((Integer) a[1]).intValue();
        int count = ((Integer) st_numgeometries(a)).intValue();
        if (n < 1 || n > count) throw GeoErrors.index("st_geometryn", n);
        return value.with(value.shape.getGeometryN(n - 1));
    }

    static Object st_dump(Object[] a) {
        List out = new ArrayList();
        dump(geo(a), geo(a).shape, out);
        return out.toArray();
    }

    private static void dump(GeoValue value, Geometry g, List out) {
        if (GeoValue.type(g) <= GeoValue.POLYGON) {
            out.add(value.with(g));
            return;
        }
        for (int i = 0; i < g.getNumGeometries(); i++) dump(value, g.getGeometryN(i), out);
    }

    static Object st_numinteriorrings(Object[] a) {
        Polygon p = (Polygon) ofType(a[0], GeoValue.POLYGON, "st_numinteriorrings", 1).shape;
        return Integer.valueOf(p.getNumInteriorRing());
    }

    static Object st_exteriorring(Object[] a) {
        Polygon p = (Polygon) ofType(a[0], GeoValue.POLYGON, "st_exteriorring", 1).shape;
        return geo(a).with(line(p.getExteriorRing()));
    }

    static Object st_interiorringn(Object[] a) {
        Polygon p = (Polygon) ofType(a[0], GeoValue.POLYGON, "st_interiorringn", 1).shape;
        int n = ((Integer) a[1]).intValue();
        if (n < 1 || n > p.getNumInteriorRing()) throw GeoErrors.index("st_interiorringn", n);
        return geo(a).with(line(p.getInteriorRingN(n - 1)));
    }

    private static LineString line(LineString ring) {
        return GeoValue.FACTORY.createLineString(ring.getCoordinateSequence());
    }

    private static CoordinateSequence points(Object[] a, String function) {
        return ((LineString) ofType(a[0], GeoValue.LINESTRING, function, 1).shape).getCoordinateSequence();
    }

    /** The point at an index from 1 on, or from the end if it is negative. */
    private static GeoValue nth(Object[] a, int n, String function) {
        CoordinateSequence all = points(a, function);
        if (all.size() == 0) throw GeoErrors.argument(function, "EMPTY_LINESTRING", "The input linestring must not be empty.");
        CoordinateSequence one = GeoBinaryReader.sequence(1, geo(a).z, geo(a).m);
        GeoShapes.put(one, 0, all, position(n, all.size(), function));
        return geo(a).with(GeoValue.FACTORY.createPoint(one));
    }

    private static int position(int n, int size, String function) {
        if (n == 0 || Math.abs((long) n) > size) throw GeoErrors.index(function, n);
        return n > 0 ? n - 1 : size + n;
    }

    static Object st_pointn(Object[] a) {
        return nth(a, ((Integer) a[1]).intValue(), "st_pointn");
    }

    static Object st_startpoint(Object[] a) {
        return nth(a, 1, "st_startpoint");
    }

    static Object st_endpoint(Object[] a) {
        return nth(a, -1, "st_endpoint");
    }

    static Object st_removepoint(Object[] a) {
        String function = "st_removepoint";
        CoordinateSequence all = points(a, function);
        if (all.size() == 0) throw GeoErrors.type(function, 1, "ST_LineString");
        int gone = position(((Integer) a[1]).intValue(), all.size(), function);
        if (all.size() < 3) {
            throw GeoErrors.argument(function, "TOO_FEW_VERTICES_IN_LINESTRING", "The input linestring must have at least 3 vertices.");
        }
        return changed(geo(a), all.size() - 1, gone, -1, null);
    }

    static Object st_addpoint(Object[] a) {
        int size = points(a, "st_addpoint").size();
        int n = a[2] == null ? -1 : ((Integer) a[2]).intValue();
        return changed(geo(a), size + 1, position(n, size + 1, "st_addpoint"), 1, added(a, a[1], 2, "st_addpoint"));
    }

    static Object st_setpoint(Object[] a) {
        int size = points(a, "st_setpoint").size();
        int at = position(((Integer) a[1]).intValue(), size, "st_setpoint");
        return changed(geo(a), size, at, 0, added(a, a[2], 3, "st_setpoint"));
    }

    private static CoordinateSequence added(Object[] a, Object given, int argument, String function) {
        GeoValue point = ofType(given, GeoValue.POINT, function, argument);
        if (point.srid != geo(a).srid) throw GeoErrors.srids(function, geo(a).srid, point.srid);
        if (point.shape.isEmpty()) throw GeoErrors.argument(function, "EMPTY_POINT", "The input point must not be empty.");
        return ((Point) point.shape).getCoordinateSequence();
    }

    /** The line of this size with a point at this place: more than before, replaced (0) or removed (-1). */
    private static GeoValue changed(GeoValue line, int size, int place, int more, CoordinateSequence point) {
        CoordinateSequence from = ((LineString) line.shape).getCoordinateSequence();
        CoordinateSequence out = GeoBinaryReader.sequence(size, line.z, line.m);
        for (int i = 0; i < size; i++) {
            boolean own = point == null || i != place;
            GeoShapes.put(out, i, own ? from : point, own ? (i >= place ? i - more : i) : 0);
        }
        return line.with(GeoValue.FACTORY.createLineString(out));
    }

    static Object st_envelope(Object[] a) {
        if (geo(a).shape.isEmpty()) return geo(a);
        return geo(a).flat(GeoValue.FACTORY.toGeometry(geo(a).shape.getEnvelopeInternal()));
    }

    static Object st_force2d(Object[] a) {
        return geo(a).flat(geo(a).shape);
    }

    static Object st_reverse(Object[] a) {
        return geo(a).with(geo(a).shape.reverse());
    }

    static Object st_multi(Object[] a) {
        GeoValue value = geo(a);
        if (isMulti(value)) return value;
        Geometry[] parts = value.shape.isEmpty() ? new Geometry[0] : new Geometry[] {value.shape};
        return value.with(GeoBinaryReader.collection(value.type() + 3, parts));
    }

    static Object st_flipcoordinates(Object[] a) {
        return GeoShapes.moved(geo(a), new AffineTransformation(0, 1, 0, 1, 0, 0), 1, 0);
    }

    static Object st_rotate(Object[] a) {
        return GeoShapes.moved(geo(a), AffineTransformation.rotationInstance(number(a[1], 0)), 1, 0);
    }

    static Object st_scale(Object[] a) {
        return GeoShapes.moved(geo(a), AffineTransformation.scaleInstance(number(a[1], 1), number(a[2], 1)), number(a[3], 1), 0);
    }

    static Object st_translate(Object[] a) {
        return GeoShapes.moved(geo(a), AffineTransformation.translationInstance(number(a[1], 0), number(a[2], 0)), 1, number(a[3], 0));
    }

    private static double number(Object given, double otherwise) {
        return given == null ? otherwise : ((Double) given).doubleValue();
    }
}
