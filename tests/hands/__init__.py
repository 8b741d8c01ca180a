"""The command line and Python as a person uses them."""
