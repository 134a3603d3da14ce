"""Which certificates are trusted, from the environment variables that other tools go by.

A file or folder that the user names and that cannot be used is said, never passed over: a certificate that is then
refused would look like a fault of the server.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

from temp0.errors import EndpointError

FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
FOLDER = "SSL_CERT_DIR"


def trust(environ: Mapping[str, str]) -> ssl.SSLContext:
    """What the system trusts, or in its place what the environment names: the first of the files, and the folder.

    Raises:
        EndpointError: What is named is not there, or holds no certificate.

    """
    named = next((name for name in FILES if environ.get(name)), None)
    places = [(name, Path(environ[name])) for name in (named, FOLDER) if name and environ.get(name)]
    if not places:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for name, path in places:
        _load(context, name, path)
    return context


def _load(context: ssl.SSLContext, name: str, path: Path) -> None:
    if not path.exists():
        raise EndpointError(f"{name} names {path}, which is not there; correct it or unset it")
    try:
        if path.is_dir():
            if not any(path.iterdir()):
                raise EndpointError(f"{name} names the folder {path}, which is empty; correct it or unset it")
            context.load_verify_locations(capath=path)
        else:
            context.load_verify_locations(cafile=path)
    except ssl.SSLError as error:
        raise EndpointError(f"{name} names {path}, which holds no certificate (PEM); correct it or unset it") from error
    except OSError as error:
        raise EndpointError(f"{name} names {path}, which cannot be read: {error.strerror}") from error
