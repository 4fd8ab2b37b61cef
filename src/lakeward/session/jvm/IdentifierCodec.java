package lakeward;

/**
 * One flat database name of Spark's session catalog for a (catalog, schema) pair, and back.
 *
 * The pair is joined by "__". An underscore that could be taken for part of that joint, and every
 * character that a database name may not hold, is written _uXXXX, so that no two pairs meet.
 */
public class IdentifierCodec {

    public static final String SESSION = "spark_catalog";

    public static String database(String catalog, String schema) {
        return catalog.equals(SESSION) ? encode(schema) : encode(catalog) + "__" + encode(schema);
    }

    public static String catalog(String database) {
        int joint = database.indexOf("__");
        return joint < 0 ? SESSION : decode(database.substring(0, joint));
    }

    public static String schema(String database) {
        int joint = database.indexOf("__");
        return decode(joint < 0 ? database : database.substring(joint + 2));
    }

    static String encode(String name) {
        String lower = name.toLowerCase(java.util.Locale.ROOT);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < lower.length(); i++) {
            char c = lower.charAt(i);
            if (isAscii(c) || (c == '_' && isSafeUnderscore(lower, i))) {
                out.append(c);
            } else {
                out.append("_u").append(String.format("%04x", new Object[] {Integer.valueOf(c)}));
            }
        }
        return out.toString();
    }

    private static boolean isSafeUnderscore(String s, int i) {
        if (i == 0 || i == s.length() - 1 || !isAscii(s.charAt(i - 1)) || !isAscii(s.charAt(i + 1))) return false;
        return !(s.charAt(i + 1) == 'u' && s.length() >= i + 6 && isHex(s.substring(i + 2, i + 6)));
    }

    private static boolean isAscii(char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    }

    private static boolean isHex(String s) {
        for (int i = 0; i < s.length(); i++) {
            if (Character.digit(s.charAt(i), 16) < 0) return false;
        }
        return true;
    }

    static String decode(String name) {
        StringBuilder out = new StringBuilder();
        int i = 0;
        while (i < name.length()) {
            if (name.startsWith("_u", i) && name.length() >= i + 6 && isHex(name.substring(i + 2, i + 6))) {
                out.append((char) Integer.parseInt(name.substring(i + 2, i + 6), 16));
                i += 6;
            } else {
                out.append(name.charAt(i));
                i++;
            }
        }
        return out.toString();
    }
}
