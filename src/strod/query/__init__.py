"""Asking a tree: documents of topics, search, slices, trends, entities."""
