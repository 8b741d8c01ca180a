"""Compiled code: the door to numba, sums over rows of numbers, counting; threads of a process."""
