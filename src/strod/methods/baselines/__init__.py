"""Other methods that make a topical hierarchy, behind the interface of our own."""
