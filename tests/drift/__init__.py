"""Tests of drift: which documents fit no topic."""
