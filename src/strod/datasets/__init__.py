"""Texts and trees to try things on."""
