package lakeward;

import org.locationtech.jts.geom.Coordinate;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.Point;
import org.locationtech.jts.operation.distance.DistanceOp;
import org.locationtech.jts.operation.relateng.RelateNG;
import org.locationtech.jts.operation.relateng.RelatePredicate;
import org.locationtech.jts.operation.relateng.TopologyPredicate;

/** Relations and distances of two geometries in the plane. */
public class GeoPredicates {

    private GeoPredicates() {
    }

    /** Both geometries have one SRID. */
    static void sameSrid(Object[] a, String function) {
        int first = ((GeoValue) a[0]).srid;
        int second = ((GeoValue) a[1]).srid;
        if (first != second) throw GeoErrors.srids(function, first, second);
    }

    /** The relations are not defined for geometry collections. */
    private static Boolean related(Object[] a, TopologyPredicate predicate, String function) {
        sameSrid(a, function);
        for (int i = 0; i < 2; i++) {
            if (((GeoValue) a[i]).type() != GeoValue.COLLECTION) continue;
            throw GeoErrors.type(function, i + 1,
                "ST_Point, ST_LineString, ST_Polygon, ST_MultiPoint, ST_MultiLineString, ST_MultiPolygon");
        }
        return Boolean.valueOf(RelateNG.relate(((GeoValue) a[0]).shape, ((GeoValue) a[1]).shape, predicate));
    }

    static Object st_contains(Object[] a) {
        return related(a, RelatePredicate.contains(), "st_contains");
    }

    static Object st_within(Object[] a) {
        return related(a, RelatePredicate.within(), "st_within");
    }

    static Object st_covers(Object[] a) {
        return related(a, RelatePredicate.covers(), "st_covers");
    }

    static Object st_coveredby(Object[] a) {
        return related(a, RelatePredicate.coveredBy(), "st_coveredby");
    }

    static Object st_disjoint(Object[] a) {
        return related(a, RelatePredicate.disjoint(), "st_disjoint");
    }

    static Object st_equals(Object[] a) {
        return related(a, RelatePredicate.equalsTopo(), "st_equals");
    }

    static Object st_intersects(Object[] a) {
        return related(a, RelatePredicate.intersects(), "st_intersects");
    }

    static Object st_touches(Object[] a) {
        return related(a, RelatePredicate.touches(), "st_touches");
    }

    private static boolean anyEmpty(Object[] a) {
        return ((GeoValue) a[0]).shape.isEmpty() || ((GeoValue) a[1]).shape.isEmpty();
    }

    static Object st_distance(Object[] a) {
        sameSrid(a, "st_distance");
        if (anyEmpty(a)) return null;
        return Double.valueOf(((GeoValue) a[0]).shape.distance(((GeoValue) a[1]).shape));
    }

    static Object st_dwithin(Object[] a) {
        sameSrid(a, "st_dwithin");
        if (anyEmpty(a)) return null;
        double most = ((Double) a[2]).doubleValue();
        return Boolean.valueOf(((GeoValue) a[0]).shape.isWithinDistance(((GeoValue) a[1]).shape, most));
    }

    /** The point of the first geometry that is nearest to the second one. */
    static Object st_closestpoint(Object[] a) {
        sameSrid(a, "st_closestpoint");
        if (anyEmpty(a)) return null;
        Coordinate nearest = DistanceOp.nearestPoints(((GeoValue) a[0]).shape, ((GeoValue) a[1]).shape)[0];
        return ((GeoValue) a[0]).flat(GeoValue.FACTORY.createPoint(new Coordinate(nearest.x, nearest.y)));
    }

    /** The two points of a call; null if one of them is empty. */
    static Point[] points(Object[] a, String function) {
        Geometry first = GeoAccessors.ofType(a[0], GeoValue.POINT, function, 1).shape;
        Geometry second = GeoAccessors.ofType(a[1], GeoValue.POINT, function, 2).shape;
        sameSrid(a, function);
        return anyEmpty(a) ? null : new Point[] {(Point) first, (Point) second};
    }
}
