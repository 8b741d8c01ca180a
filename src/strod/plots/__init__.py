"""Pictures of a tree, for people who would rather look than read."""
