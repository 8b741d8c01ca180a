"""Topics: from the counts of a node to its children, level by level."""
