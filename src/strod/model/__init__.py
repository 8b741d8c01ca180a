"""The fitted model: what places documents, as a value that can be sent."""
