"""The `layoutdm` program: collects the commands and turns errors into one sentence."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import typer

from layoutdm import __version__
from layoutdm.cli.scaling import bare_ray
from layoutdm.errors import LayoutdmError
from layoutdm.extras import EXTRAS, sentence

# Each command is a module of this package with a function of the same name. The modules import
# what they need inside the function, so that `layoutdm --help` stays fast.
COMMANDS = (
    "generate",
    "pages",
    "models",
    "labels",
    "schema",
    "convert",
    "render",
    "tidy",
    "stats",
    "validate",
    "train",
    "systems",
    "paper",
    "push",
    "pull",
    "fit-features",
    "score",
    "evaluate",
    "serve",
    "studio",
)

app = typer.Typer(
    name="layoutdm",
    help="Controllable layout generation: say what you know, get complete layouts back.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        print(f"layoutdm {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
) -> None:
    pass


def _register() -> None:
    for command in COMMANDS:
        name = command.replace("-", "_")
        module = import_module(f"layoutdm.cli.{name}")
        app.command(command)(getattr(module, name))


def main() -> None:
    """Entry point: exit code 0, 1 (bad input), 2 (usage) or 3 (wishes missed, --require)."""
    _register()
    try:
        app(args=bare_ray(sys.argv[1:]))
    except LayoutdmError as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        _fail(sentence(package, "this command"))
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _fail(f"{name}{error.strerror or error}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _fail(message: str) -> None:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(1)
