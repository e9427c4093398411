"""TLS authorities: the usual ones, and those of FOOTNOTE_CA_FILE."""

import os
import ssl
from collections.abc import Callable
from pathlib import Path

from pipelines.errors import ConfigError

CA_FILE_HINT = "If an authority of your own signed its certificate, name that one in FOOTNOTE_CA_FILE."

_UNKNOWN = ("issuer certificate", "self-signed certificate", "self signed certificate")  # as OpenSSL 3 and 1 say it
_HINT = "Name a PEM file with the authority's certificate (-----BEGIN CERTIFICATE-----), or unset it."


def checked_ca_file(ca_file: str) -> Path | None:
    """Return the file of authorities of the setting; None if the setting is empty.

    Raises:
        ConfigError: If it cannot be read, or holds no certificate.
    """
    return _usable("FOOTNOTE_CA_FILE", os.path.expanduser(ca_file.strip()))


def environment_ca_file() -> Path | None:
    """Return the file of authorities that SSL_CERT_FILE names; None if it is not set.

    httpx reads it itself; a file that it cannot use is reported here, not by an error of its own.

    Raises:
        ConfigError: If it cannot be read, or holds no certificate.
    """
    return _usable("SSL_CERT_FILE", os.environ.get("SSL_CERT_FILE", ""))


def ssl_context(ca_file: str, usual: Callable[[], ssl.SSLContext]) -> ssl.SSLContext | None:
    """Return a context with the authorities of the setting beside those of `usual`; None if the setting is empty.

    Raises:
        ConfigError: As `checked_ca_file`.
    """
    path = checked_ca_file(ca_file)
    if path is None:
        return None
    context = usual()
    context.load_verify_locations(path)
    return context


def is_untrusted(error: object) -> bool:
    """Return True if an error says that no trusted authority signed a certificate."""
    return any(phrase in str(error) for phrase in _UNKNOWN)


def _usable(variable: str, written: str) -> Path | None:
    if not written:
        return None
    path = Path(written)
    named = f"{variable} names {path}, which"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(path)
    except ssl.SSLError as error:
        raise ConfigError(f"{named} holds no certificate that can be read.", hint=_HINT) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{named} cannot be read: {why}.", hint=_HINT) from error
    if not context.cert_store_stats()["x509"]:
        raise ConfigError(f"{named} holds no certificate.", hint=_HINT)
    return path
