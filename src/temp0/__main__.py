"""`python -m temp0` is the command `temp0`."""

from temp0.cli.main import main

if __name__ == "__main__":
    main()
