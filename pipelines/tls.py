"""TLS authorities: the usual ones, and those of FOOTNOTE_CA_FILE."""

import os
import ssl
from collections.abc import Callable
from functools import lru_cache
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


def ssl_context(ca_file: str, usual: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """Return a context with the authorities of the setting beside those of `usual`, shared until a file changes.

    Raises:
        ConfigError: As `checked_ca_file`.
    """
    import certifi  # what `usual` reads

    path = checked_ca_file(ca_file)
    if os.environ.get("SSL_CERT_DIR"):  # whose files change without a sign of it
        return _context.__wrapped__(usual, path)
    read = (certifi.where(), os.environ.get("SSL_CERT_FILE"), path)
    return _context(usual, path, *((each, _stamp(Path(each))) for each in read if each))


@lru_cache(maxsize=8)
def _context(usual: Callable[[], ssl.SSLContext], path: Path | None, *_: object) -> ssl.SSLContext:
    context = usual()  # the authorities of a system take 20 ms to read
    if path:
        context.load_verify_locations(path)
    return context


def is_untrusted(error: object) -> bool:
    """Return True if an error says that no trusted authority signed a certificate."""
    return any(phrase in str(error) for phrase in _UNKNOWN)


def _usable(variable: str, written: str) -> Path | None:
    if not written:
        return None
    _check(variable, Path(written), _stamp(Path(written)))
    return Path(written)


def _stamp(path: Path) -> tuple[int, ...]:
    """The inode, the size and the time of a file, one of which changes when it does; empty if there is none."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


@lru_cache(maxsize=8)
def _check(variable: str, path: Path, _: object) -> None:
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
