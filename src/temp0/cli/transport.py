"""Options that say how requests of `temp0 probe` go out, how long is waited for answers, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from temp0.errors import UsageError

if TYPE_CHECKING:
    from temp0.core.run import Run
    from temp0.workflow.probing import Where

_SECONDS = click.FloatRange(min=0, min_open=True)
header = click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header of your own in every request; again for more. Only its name is recorded.",
)
_OPTIONS = (
    header,
    click.option(
        "--extra-json",
        metavar="JSON",
        help="An object that is merged into every body, over what temp0 sends: '{\"top_k\": 1}'. It is recorded. A "
        "temperature other than 0 in it labels the run not greedy.",
    ),
    click.option(
        "--not-greedy",
        is_flag=True,
        help="Send no temperature, where the server refuses one. Answers then differ by chance; the run says so.",
    ),
    click.option(
        "--timeout-s",
        type=_SECONDS,
        default=300.0,
        show_default=True,
        help="Seconds until an attempt without a whole answer counts as failed.",
    ),
    click.option(
        "--connect-timeout-s", type=_SECONDS, default=30.0, show_default=True, help="The same without a connection."
    ),
    click.option(
        "--first-byte-timeout-s",
        type=_SECONDS,
        help="The same without the first byte of an answer, which an answer in one piece has only when it is whole.  "
        "[default: --timeout-s]",
    ),
    click.option(
        "--patience-s",
        type=click.FloatRange(min=0),
        default=60.0,
        show_default=True,
        help="Where the server is busy or limits the rate (429, 503, 529), wait as it says and ask again, for at most "
        "so many seconds a question; each time is an attempt of its own. 0: never.",
    ),
    click.option(
        "--keep-raw",
        is_flag=True,
        help="Also store every answer as it came, to be looked at with `temp0 show RUN --raw DIR`.",
    ),
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add these options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def where(given: dict[str, Any], resume: Run | None) -> Where:
    """The endpoint that the options address, or that of the run to go on with."""
    import json

    from temp0.workflow.builtin import Builtin
    from temp0.workflow.extra import extra_fields
    from temp0.workflow.probing import Where

    return Where(
        url=resume.address.url if resume else given["url"],
        model=resume.address.model if resume else given["model"],
        api=resume.address.api if resume else given["api"],
        key_env=given["key_env"],
        headers=headers(given),
        extra=json.loads(resume.address.extra or "{}") if resume else extra_fields(given["extra_json"]),
        timeout_s=given["timeout_s"],
        connect_timeout_s=given["connect_timeout_s"],
        first_byte_timeout_s=given["first_byte_timeout_s"],
        keep_raw=given["keep_raw"],
        engine=Builtin(weights=given["weights"], arithmetic=given["arithmetic"], threads=given["threads"]),
    )


def headers(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The headers of the user's own, as names and values."""
    return tuple(map(_header, given["headers"]))


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError("--header wants a name, a colon and a value, such as 'X-Team: red'")
    return name.strip(), value.strip()
