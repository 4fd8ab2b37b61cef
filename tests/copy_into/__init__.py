"""COPY INTO."""
