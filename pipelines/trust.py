"""Whose TLS certificates are believed: those of the usual authorities, and beside them of FOOTNOTE_CA_FILE."""

import os
import ssl
from collections.abc import Callable
from pathlib import Path

from pipelines.errors import ConfigError

OWN_AUTHORITY = "If an authority of your own signed its certificate, name that one in FOOTNOTE_CA_FILE."

_UNKNOWN = ("issuer certificate", "self-signed certificate", "self signed certificate")  # as OpenSSL 3 and 1 say it
_HINT = "Name a PEM file with the authority's certificate (-----BEGIN CERTIFICATE-----), or unset it."


def authorities(ca_file: str) -> Path | None:
    """The file of authorities that the setting names; None where it is empty.

    Raises:
        ConfigError: If it cannot be read, or holds no certificate.
    """
    return _usable("FOOTNOTE_CA_FILE", os.path.expanduser(ca_file.strip()))


def usual_authorities(*variables: str, or_folder: bool = False) -> Path | None:
    """The file of usual authorities that the first of these variables of the environment names which is set, if any is.

    Libraries read them by themselves; what they cannot use would end in an error of theirs.

    Args:
        variables: Those that a library honours, the stronger ones first.
        or_folder: Whether it takes a folder of such files, too.

    Raises:
        ConfigError: If it cannot be read, or holds no certificate.
    """
    name = next((name for name in variables if os.environ.get(name)), "")
    return _usable(name, os.environ.get(name, ""), or_folder=or_folder)


def trusting(ca_file: str, usual: Callable[[], ssl.SSLContext]) -> ssl.SSLContext | None:
    """A context that believes the authorities of the setting beside those of `usual`; None where the setting is empty.

    Raises:
        ConfigError: As `authorities`.
    """
    path = authorities(ca_file)
    if path is None:
        return None
    context = usual()
    context.load_verify_locations(path)
    return context


def is_unknown(error: object) -> bool:
    """Whether an error says that no authority which is believed signed a certificate."""
    return any(said in str(error) for said in _UNKNOWN)


def _usable(variable: str, written: str, *, or_folder: bool = False) -> Path | None:
    if not written:
        return None
    path = Path(written)
    said = f"{variable} names {path}, which"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if or_folder and path.is_dir():
            return path
        context.load_verify_locations(path)
    except ssl.SSLError as error:
        raise ConfigError(f"{said} holds no certificate that can be read.", hint=_HINT) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{said} cannot be read: {why}.", hint=_HINT) from error
    if not context.cert_store_stats()["x509"]:
        raise ConfigError(f"{said} holds no certificate.", hint=_HINT)
    return path
