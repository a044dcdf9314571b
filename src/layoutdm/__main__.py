"""`python -m layoutdm` is the `layoutdm` program."""

from layoutdm.cli import main

if __name__ == "__main__":
    main()
