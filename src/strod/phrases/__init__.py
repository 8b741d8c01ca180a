"""Phrases: mined once from the token stream, then counted and ranked for every topic."""
