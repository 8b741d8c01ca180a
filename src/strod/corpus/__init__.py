"""The collection on disk: token streams, counts, documents."""
