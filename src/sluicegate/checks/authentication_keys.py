"""What a signature is verified with: shared secrets, or the public keys of a JWKS (RFC 7517).

The bytes of a key file come in; nothing is opened here. joserfc is imported where a set is read,
so that contracts without signatures do without it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import jiter

from sluicegate.errors import ConfigurationError
from sluicegate.values.names import show_name

ALGORITHMS: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    # JWS (RFC 7518, RFC 8037, RFC 9864)
    "EdDSA": ("Ed25519", frozenset({"EdDSA", "Ed25519"})),
    "Ed25519": ("Ed25519", frozenset({"EdDSA", "Ed25519"})),
    "ES256": ("P-256", frozenset({"ES256"})),
    "ES384": ("P-384", frozenset({"ES384"})),
    "PS256": ("RSA", frozenset({"PS256"})),
    "RS256": ("RSA", frozenset({"RS256"})),
    # RFC 9421 section 6.2
    "ed25519": ("Ed25519", frozenset({"EdDSA", "Ed25519"})),
    "ecdsa-p256-sha256": ("P-256", frozenset({"ES256"})),
    "ecdsa-p384-sha384": ("P-384", frozenset({"ES384"})),
    "rsa-pss-sha512": ("RSA", frozenset({"PS512"})),
}
"""Algorithm → the kind of key it takes, and the ``alg`` that a key may bear for it.

None of them is symmetric: a public key can never stand in for a shared secret (RFC 8725 2.1).
"""

_MAX_KEYS: Final = 100
_MIN_RSA_BITS: Final = 2048
_PRIVATE: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Shared secrets, the newest and those that still count during a rotation."""

    keys: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """One public key: ``jose`` as joserfc takes it, ``key`` as cryptography does.

    ``kind`` is ``Ed25519``, ``P-256``, ``P-384`` or ``RSA``; ``algorithm`` the ``alg`` that the
    key bears, if any.
    """

    kid: str | None
    kind: str
    algorithm: str | None
    jose: Any = field(repr=False)
    key: Any = field(repr=False)

    def fits(self, algorithm: str) -> bool:
        """Whether this key may verify ``algorithm``, one of ALGORITHMS."""
        kind, own = ALGORITHMS[algorithm]
        return self.kind == kind and (self.algorithm is None or self.algorithm in own)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKeys:
    """The public keys of one file; no two of them bear one ``kid``."""

    keys: tuple[PublicKey, ...] = ()

    def find(self, kid: object, algorithm: str) -> PublicKey | None:
        """Return the key that ``kid`` names, if it fits; without a name the only one that fits."""
        fitting = [key for key in self.keys if key.fits(algorithm)]
        if kid is not None:
            fitting = [key for key in fitting if key.kid == kid]
        return fitting[0] if len(fitting) == 1 else None


TrustedKeys: TypeAlias = Secrets | PublicKeys


class JwksUnfinished(ValueError):  # noqa: N818  (a state of the file)
    """The bytes are empty, or JSON that was cut: as while somebody writes the file."""


def say_absent(error: ImportError) -> ConfigurationError:
    """Return the one error for a library of the extra that is not there."""
    return ConfigurationError(
        f"`upstream.signature` needs {error.name or 'a library'}, which is not installed: "
        "install sluicegate[signatures]"
    )


def read_jwks(raw: bytes) -> PublicKeys:
    """Return the public signature keys of a JWKS; keys for encryption are passed over.

    Raises: ValueError, which says what is wrong and how to mend it, for what is no JWKS, holds
    a private or symmetric key, a key that cannot be used, one name twice, or no key at all;
    JwksUnfinished, one of them, for a file that is not whole; ConfigurationError where joserfc is
    absent.
    """
    try:
        document = jiter.from_json(raw, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        fault = JwksUnfinished if _is_cut(raw) else ValueError
        raise fault("is not JSON; write a JWKS: {keys: [PUBLIC KEY, …]}") from None
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) > _MAX_KEYS:
        raise ValueError(f"is no JWKS; write {{keys: […]}} with at most {_MAX_KEYS} public keys")
    for number, each in enumerate(listed, start=1):
        _refuse_secret(each, number)  # also of one that is passed over
    keys = tuple(
        _read_key(each, number)
        for number, each in enumerate(listed, start=1)
        if each.get("use") != "enc"
    )
    if not keys:
        raise ValueError("holds no key for signatures; add the provider's public key")
    names = [key.kid for key in keys if key.kid is not None]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"names two keys {show_name(name)}; give each a `kid` of its own")
    return PublicKeys(keys=keys)


def _is_cut(raw: bytes) -> bool:
    """Whether ``raw``, which is no JSON, is the beginning of some."""
    try:
        jiter.from_json(raw, catch_duplicate_keys=True, allow_inf_nan=False, partial_mode=True)
    except ValueError:
        return not raw.strip()
    return True


def _refuse_secret(document: object, number: int) -> None:
    if not isinstance(document, dict):
        raise ValueError(f"holds something else than a key as number {number}; remove it")
    if _PRIVATE & document.keys() or document.get("kty") == "oct":
        raise ValueError(
            f"holds a private or symmetric key as number {number}; keep only its public half, "
            "and take the secret out of the folder"
        )


def _read_key(document: dict[str, Any], number: int) -> PublicKey:
    kind = _kind_of(document, number)
    try:
        from joserfc.errors import JoseError
        from joserfc.jwk import JWKRegistry
    except ImportError as error:
        raise say_absent(error) from error
    try:
        # Without `alg`: joserfc would hold EdDSA and Ed25519, one algorithm, for two.
        jose = JWKRegistry.import_key(
            {name: value for name, value in document.items() if name != "alg"}
        )
        key = jose.get_op_key("verify")
    except (JoseError, ValueError, TypeError, KeyError):
        raise ValueError(
            f"holds a key as number {number} that cannot be used for signatures; export it anew "
            "as a public JWK"
        ) from None
    kid, algorithm = document.get("kid"), document.get("alg")
    if not isinstance(kid, str | None) or not isinstance(algorithm, str | None):
        raise ValueError(f"holds a key as number {number} whose `kid` or `alg` is no text")
    return PublicKey(kid=kid, kind=kind, algorithm=algorithm, jose=jose, key=key)


def _kind_of(document: Mapping[str, object], number: int) -> str:
    kind = "RSA" if document.get("kty") == "RSA" else document.get("crv")
    if not isinstance(kind, str) or kind not in {kind for kind, _ in ALGORITHMS.values()}:
        raise ValueError(
            f"holds a key as number {number} of a kind that is not taken; use Ed25519, P-256, "
            "P-384 or RSA"
        )
    if kind == "RSA" and _bits_of(document.get("n")) < _MIN_RSA_BITS:
        raise ValueError(
            f"holds an RSA key as number {number} that is too short; use at least "
            f"{_MIN_RSA_BITS} bits"
        )
    return kind


def _bits_of(number: object) -> int:
    """Return the length of a number in base64url; 0 for what is none."""
    if not isinstance(number, str):
        return 0
    try:
        decoded = base64.urlsafe_b64decode(number + "=" * (-len(number) % 4))
    except (binascii.Error, ValueError):
        return 0
    return int.from_bytes(decoded, "big").bit_length()
