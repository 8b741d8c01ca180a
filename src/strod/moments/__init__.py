"""Word co-occurrence of a topic: M1, E2 as an operator, E3 contracted to k×k×k."""
