"""Who does the work; the mathematics does not know."""
