"""``python -m strod``."""

from strod.cli.main import main

main()
