package lakeward;

import net.sf.geographiclib.Geodesic;
import net.sf.geographiclib.GeodesicData;
import net.sf.geographiclib.PolygonArea;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LineString;
import org.locationtech.jts.geom.Point;
import org.locationtech.jts.geom.Polygon;

/**
 * Areas, lengths and directions: of geometries in the plane of their coordinates, of geographies on the ellipsoid
 * WGS84, in meters.
 */
public class GeoMeasures {

    private static final Geodesic WGS84 = Geodesic.WGS84;
    /** (2a + b) / 3, the mean radius of the ellipsoid. */
    private static final double MEAN_RADIUS = (3 - WGS84.Flattening()) / 3 * WGS84.EquatorialRadius();

    private GeoMeasures() {
    }

    static Object st_area(Object[] a) {
        GeoValue value = (GeoValue) a[0];
        return Double.valueOf(value.isGeography ? measure(value.shape, 2) : value.shape.getArea());
    }

    static Object st_length(Object[] a) {
        GeoValue value = (GeoValue) a[0];
        return Double.valueOf(value.isGeography ? measure(value.shape, 1) : planar(value.shape, 1));
    }

    static Object st_perimeter(Object[] a) {
        GeoValue value = (GeoValue) a[0];
        return Double.valueOf(value.isGeography ? measure(value.shape, 0) : planar(value.shape, 0));
    }

    static Object st_geogarea(Object[] a) {
        return st_area(new Object[] {GeoConstructors.to_geography(a)});
    }

    static Object st_geoglength(Object[] a) {
        return st_length(new Object[] {GeoConstructors.to_geography(a)});
    }

    static Object st_geogperimeter(Object[] a) {
        return st_perimeter(new Object[] {GeoConstructors.to_geography(a)});
    }

    /** The length of the lines (1), or of the boundaries of the polygons (0). */
    private static double planar(Geometry g, int lines) {
        if (g instanceof Point) return 0;
        if (g instanceof LineString) return lines == 1 ? g.getLength() : 0;
        if (g instanceof Polygon) return lines == 0 ? g.getLength() : 0;
        double sum = 0;
        for (int i = 0; i < g.getNumGeometries(); i++) sum += planar(g.getGeometryN(i), lines);
        return sum;
    }

    /** On the ellipsoid: the area (2), the length of the lines (1) or of the boundaries (0). */
    private static double measure(Geometry g, int what) {
        if (g instanceof Point) return 0;
        if (g instanceof LineString) return what == 1 ? length(((LineString) g).getCoordinateSequence()) : 0;
        double sum = 0;
        if (g instanceof Polygon) {
            Polygon p = (Polygon) g;
            if (what == 1 || p.isEmpty()) return 0;
            for (int i = -1; i < p.getNumInteriorRing(); i++) {
                CoordinateSequence ring = (i < 0 ? p.getExteriorRing() : p.getInteriorRingN(i)).getCoordinateSequence();
                sum += what == 0 ? length(ring) : i < 0 ? area(ring) : -area(ring);
            }
            return sum;
        }
        for (int i = 0; i < g.getNumGeometries(); i++) sum += measure(g.getGeometryN(i), what);
        return sum;
    }

    private static double length(CoordinateSequence all) {
        double sum = 0;
        for (int i = 1; i < all.size(); i++) {
            sum += WGS84.Inverse(all.getY(i - 1), all.getX(i - 1), all.getY(i), all.getX(i)).s12;
        }
        return sum;
    }

    /** The smaller of the two areas that a ring encloses. */
    private static double area(CoordinateSequence ring) {
        PolygonArea area = new PolygonArea(WGS84, false);
        for (int i = 0; i < ring.size() - 1; i++) area.AddPoint(ring.getY(i), ring.getX(i));
        return Math.abs(area.Compute(false, true).area);
    }

    static Object st_distancespheroid(Object[] a) {
        Point[] points = GeoPredicates.points(a, "st_distancespheroid");
        return points == null ? null : Double.valueOf(geodesic(points).s12);
    }

    private static GeodesicData geodesic(Point[] points) {
        return WGS84.Inverse(points[0].getY(), points[0].getX(), points[1].getY(), points[1].getX());
    }

    static Object st_distancesphere(Object[] a) {
        Point[] points = GeoPredicates.points(a, "st_distancesphere");
        if (points == null) return null;
        double latitude = Math.toRadians(points[0].getY());
        double other = Math.toRadians(points[1].getY());
        double up = Math.sin((other - latitude) / 2);
        double along = Math.sin(Math.toRadians(points[1].getX() - points[0].getX()) / 2);
        double half = Math.min(1, up * up + Math.cos(latitude) * Math.cos(other) * along * along);
        return Double.valueOf(2 * MEAN_RADIUS * Math.asin(Math.sqrt(half)));
    }

    /** From north, clockwise, in radians from 0 to 2π. */
    static Object st_azimuth(Object[] a) {
        Point[] points = GeoPredicates.points(a, "st_azimuth");
        if (points == null) return null;
        double x = points[1].getX() - points[0].getX();
        double y = points[1].getY() - points[0].getY();
        if (x == 0 && y == 0) return Double.valueOf(0);
        double angle = ((GeoValue) a[0]).isGeography ? Math.toRadians(geodesic(points).azi1) : Math.atan2(x, y);
        return Double.valueOf(angle < 0 ? angle + 2 * Math.PI : angle);
    }

    /** The zone of UTM, or UPS around the poles, of the center of the box. */
    static Object st_estimatesrid(Object[] a) {
        Geometry shape = ((GeoValue) a[0]).shape;
        if (shape.isEmpty()) return null;
        double latitude = shape.getEnvelopeInternal().centre().y;
        double longitude = shape.getEnvelopeInternal().centre().x;
        if (latitude >= 84) return Integer.valueOf(32661);
        if (latitude < -80) return Integer.valueOf(32761);
        return Integer.valueOf((latitude < 0 ? 32700 : 32600) + zone(longitude, latitude));
    }

    /** Zones are 6° wide but for the south-west of Norway and Svalbard. */
    private static int zone(double longitude, double latitude) {
        if (latitude >= 56 && latitude < 64 && longitude >= 3 && longitude < 12) return 32;
        if (latitude >= 72 && longitude >= 0 && longitude < 42) {
            return longitude < 9 ? 31 : longitude < 21 ? 33 : longitude < 33 ? 35 : 37;
        }
        return Math.min(60, (int) Math.floor((longitude + 180) / 6) + 1);
    }
}
