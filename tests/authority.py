"""An authority of one's own, and servers that show certificates which it signed."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_KEY_USES = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
    "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
)  # fmt: skip


@dataclass(frozen=True)
class Authority:
    """An authority whose own certificate stands in the PEM file `path`."""

    path: Path
    name: x509.Name
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def made(cls, path: Path) -> Self:
        """A new authority, its certificate written to `path`."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority of our own")])
        authority = cls(path, name, key)
        signs = {use: use == "key_cert_sign" for use in _KEY_USES}
        begun = authority._begun(name, key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        begun = begun.add_extension(x509.KeyUsage(**signs), critical=True)
        path.write_bytes(begun.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return authority

    def server(self, *names: str) -> ssl.SSLContext:
        """How a server of these names, or IP addresses, speaks TLS."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        begun = self._begun(subject, key).add_extension(x509.SubjectAlternativeName(list(map(_named, names))), False)
        made = begun.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False
        ).sign(self.key, hashes.SHA256())
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        chain = self.path.with_name(f"{names[0]}.pem")
        chain.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def revocations(self) -> bytes:
        """What it revoked, which is nothing, as PEM."""
        now = datetime.now(UTC)
        begun = x509.CertificateRevocationListBuilder(self.name, now, now + timedelta(days=1))
        return begun.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def _begun(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return x509.CertificateBuilder(
            self.name, subject, key.public_key(), x509.random_serial_number(),
            now - timedelta(days=1), now + timedelta(days=1),
        ).add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)  # fmt: skip


def _named(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
