"""The authorities that GitHub's client believes: it takes one file of them, instead of the usual one."""

from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.errors import ConfigError
from pipelines.trust import authorities, usual_authorities


class Bundle:
    """The usual authorities, as `requests` finds them, and those of FOOTNOTE_CA_FILE.

    Raises:
        ConfigError: If that file cannot be used, or the one that the environment names for `requests`.
    """

    def __init__(self, ca_file: str) -> None:
        self._usual = usual_authorities("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", or_folder=True)
        self._own = authorities(ca_file)
        self._folder: TemporaryDirectory[str] | None = None

    def verify(self) -> bool | str:
        """True where the usual ones are all; else a file of both, which is there until `close`.

        Raises:
            ConfigError: If a file of certificates cannot be read.
        """
        if self._own is None:
            return True
        self._folder = self._folder or TemporaryDirectory(prefix="footnote-")
        path = Path(self._folder.name) / "authorities.pem"
        try:
            path.write_bytes(b"\n".join(file.read_bytes() for file in (*self._files(), self._own)))
        except OSError as error:
            said = f"{error.filename}, a file of certificates, cannot be read: {error.strerror}."
            raise ConfigError(said, hint="Check REQUESTS_CA_BUNDLE and FOOTNOTE_CA_FILE.") from error
        return str(path)

    def close(self) -> None:
        """Let go of the file."""
        if self._folder is not None:
            self._folder.cleanup()

    def _files(self) -> list[Path]:
        from requests.utils import DEFAULT_CA_BUNDLE_PATH

        usual = self._usual or Path(DEFAULT_CA_BUNDLE_PATH)
        return sorted(file for file in usual.iterdir() if file.is_file()) if usual.is_dir() else [usual]
