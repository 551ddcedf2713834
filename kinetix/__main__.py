"""`python -m kinetix` is the command `kinetix`."""

from kinetix.cli import main

if __name__ == "__main__":
    main()
