"""`python -m jostle` is the command `jostle`."""

from jostle.cli import main

main()
