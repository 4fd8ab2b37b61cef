package lakeward;

import org.locationtech.jts.geom.Envelope;

/** Geohashes: five bits a character, which halve the longitudes and the latitudes in turn. */
public class GeoHash {

    private static final String DIGITS = "0123456789bcdefghjkmnpqrstuvwxyz";
    private static final int LONGEST = 12;

    private double west = -180;
    private double east = 180;
    private double south = -90;
    private double north = 90;

    private GeoHash() {
    }

    /** The cell of a geohash. */
    static Envelope cell(String hash, String function) {
        GeoHash area = new GeoHash();
        for (int i = 0; i < hash.length() * 5; i++) {
            int digit = DIGITS.indexOf(hash.charAt(i / 5));
            if (digit < 0) {
                throw GeoErrors.argument(function, "INVALID_GEOHASH_VALUE", "Invalid geohash value: '" + hash + "'. Geohash values must be valid "
                    + "lowercase base32 strings as described in https://en.wikipedia.org/wiki/Geohash#Textual_representation.");
            }
            area.halve(i, (digit >> (4 - i % 5) & 1) == 1);
        }
        return new Envelope(area.west, area.east, area.south, area.north);
    }

    private double middle(int bit) {
        return bit % 2 == 0 ? (west + east) / 2 : (south + north) / 2;
    }

    private void halve(int bit, boolean upper) {
        double middle = middle(bit);
        if (bit % 2 == 0) {
            if (upper) west = middle; else east = middle;
        } else {
            if (upper) south = middle; else north = middle;
        }
    }

    /** The geohash of a box: of its center, or with a negative precision the longest one whose cell contains the box. */
    static String of(Envelope box, int precision) {
        boolean center = precision >= 0;
        double x = (box.getMinX() + box.getMaxX()) / 2;
        double y = (box.getMinY() + box.getMaxY()) / 2;
        Envelope covered = center ? new Envelope(x, x, y, y) : box;
        GeoHash area = new GeoHash();
        StringBuilder out = new StringBuilder();
        int digit = 0;
        for (int bit = 0; bit < 5 * (center ? precision : LONGEST); bit++) {
            double middle = area.middle(bit);
            boolean upper = (bit % 2 == 0 ? covered.getMinX() : covered.getMinY()) >= middle;
            boolean lower = (bit % 2 == 0 ? covered.getMaxX() : covered.getMaxY()) <= middle;
            if (!upper && !lower) break;
            area.halve(bit, upper);
            digit = digit * 2 + (upper ? 1 : 0);
            if (bit % 5 != 4) continue;
            out.append(DIGITS.charAt(digit));
            digit = 0;
        }
        return out.toString();
    }
}
