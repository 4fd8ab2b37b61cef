package lakeward;

import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.GeometryCollection;
import org.locationtech.jts.geom.GeometryFactory;
import org.locationtech.jts.geom.LineString;
import org.locationtech.jts.geom.MultiLineString;
import org.locationtech.jts.geom.MultiPoint;
import org.locationtech.jts.geom.MultiPolygon;
import org.locationtech.jts.geom.Point;
import org.locationtech.jts.geom.PrecisionModel;
import org.locationtech.jts.geom.impl.CoordinateArraySequenceFactory;

/**
 * A GEOMETRY or GEOGRAPHY: its shape, the dimension of its coordinates and its SRID.
 *
 * The dimension is a field of its own, because the library keeps none for an empty collection.
 */
public class GeoValue {

    public static final GeometryFactory FACTORY = new GeometryFactory(new PrecisionModel(), 0, CoordinateArraySequenceFactory.instance());
    /** The names of types in WKT and GeoJSON, by their number in WKB. */
    public static final String[] NAMES = new String[] {
        null, "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"
    };
    public static final int POINT = 1;
    public static final int LINESTRING = 2;
    public static final int POLYGON = 3;
    public static final int COLLECTION = 7;

    public final Geometry shape;
    public final boolean z;
    public final boolean m;
    public final int srid;
    public final boolean isGeography;

    GeoValue(Geometry shape, boolean z, boolean m, int srid, boolean isGeography) {
        this.shape = shape;
        this.z = z;
        this.m = m;
        this.srid = srid;
        this.isGeography = isGeography;
    }

    /** The same kind of value with another shape, whose coordinates have the same dimension. */
    GeoValue with(Geometry other) {
        return new GeoValue(other, z, m, srid, isGeography);
    }

    /** The same kind of value with another shape, which has two dimensions. */
    GeoValue flat(Geometry other) {
        return new GeoValue(other, false, false, srid, isGeography);
    }

    int type() {
        return type(shape);
    }

    String name() {
        return NAMES[type()];
    }

    int dimensions() {
        return 2 + (z ? 1 : 0) + (m ? 1 : 0);
    }

    static int type(Geometry g) {
        if (g instanceof Point) return POINT;
        if (g instanceof LineString) return LINESTRING;
        if (g instanceof MultiPoint) return 4;
        if (g instanceof MultiLineString) return 5;
        if (g instanceof MultiPolygon) return 6;
        return g instanceof GeometryCollection ? COLLECTION : POLYGON;
    }
}
