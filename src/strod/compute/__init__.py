"""Compiled code, and the threads of one process."""
