"""`python -m expandlab`: the command line."""

from expandlab.cli import app

app()
