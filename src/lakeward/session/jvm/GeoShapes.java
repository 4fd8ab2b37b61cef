package lakeward;

import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.CoordinateSequenceFilter;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.util.AffineTransformation;

/** Copies of coordinates, and changes of all coordinates of a shape. */
public class GeoShapes {

    private GeoShapes() {
    }

    /** Copy a point. A coordinate that it lacks is 0. */
    static void put(CoordinateSequence to, int i, CoordinateSequence from, int k) {
        to.setOrdinate(i, 0, from.getX(k));
        to.setOrdinate(i, 1, from.getY(k));
        if (to.hasZ()) to.setOrdinate(i, 2, from.hasZ() ? present(from.getZ(k)) : 0);
        if (to.hasM()) to.setOrdinate(i, to.getDimension() - 1, from.hasM() ? present(from.getM(k)) : 0);
    }

    private static double present(double value) {
        return Double.isNaN(value) ? 0 : value;
    }

    static CoordinateSequence copy(CoordinateSequence from, boolean z, boolean m) {
        CoordinateSequence out = GeoBinaryReader.sequence(from.size(), z, m);
        for (int i = 0; i < from.size(); i++) put(out, i, from, i);
        return out;
    }

    /** X and Y of all points, changed; Z by a factor and an offset. */
    static GeoValue moved(GeoValue value, AffineTransformation plane, double zFactor, double zOffset) {
        Geometry copy = value.shape.copy();
        copy.apply(new Moved(plane, value.z, zFactor, zOffset));
        return value.with(copy);
    }

    public static class Moved implements CoordinateSequenceFilter {
        private final AffineTransformation plane;
        private final boolean z;
        private final double zFactor;
        private final double zOffset;

        Moved(AffineTransformation plane, boolean z, double zFactor, double zOffset) {
            this.plane = plane;
            this.z = z;
            this.zFactor = zFactor;
            this.zOffset = zOffset;
        }

        public void filter(CoordinateSequence all, int i) {
            plane.transform(all, i);
            if (z) all.setOrdinate(i, 2, all.getZ(i) * zFactor + zOffset);
        }

        public boolean isDone() {
            return false;
        }

        public boolean isGeometryChanged() {
            return true;
        }
    }

    /** The least and the greatest Z of a shape. */
    public static class Heights implements CoordinateSequenceFilter {
        public double least = Double.POSITIVE_INFINITY;
        public double most = Double.NEGATIVE_INFINITY;

        public void filter(CoordinateSequence all, int i) {
            least = Math.min(least, all.getZ(i));
            most = Math.max(most, all.getZ(i));
        }

        public boolean isDone() {
            return false;
        }

        public boolean isGeometryChanged() {
            return false;
        }
    }
}
