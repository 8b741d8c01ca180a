"""Text in: sources, tokens, words."""
