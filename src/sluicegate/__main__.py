"""``python -m sluicegate``."""

from sluicegate.cli.main import main

main()
