"""The entry of the desktop bundle where no `uvx` starts the server: the installed package serves."""

from haversack.__main__ import program

if __name__ == "__main__":
    import sys

    sys.argv[1:] = ["serve"]
    program()
