"""The JVM of a session: Java, jars, start-up, sharing between processes."""
