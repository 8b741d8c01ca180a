"""Passes over documents: tasks, and what asks an engine for them.

A task is a function of its module, of a reference to documents and of values: it can be called by
name in another process. It opens its own files, changes nothing that others see, and returns what
it found.
"""
