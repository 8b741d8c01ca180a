"""Orthogonal decomposition of a k×k×k tensor, and recovery of alpha and phi."""
