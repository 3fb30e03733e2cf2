"""What a member name says, however it is spelt: ``apiKey``, ``api_key``, ``X-API-KEY``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

OBSERVATION_TIMES: Final = frozenset(
    {"observed_at", "as_of", "fetched_at", "retrieved_at", "sampled_at"}
)
"""Members that say when a result was true (E09)."""

_PROSE_NAMES: Final = frozenset(
    {
        *("message", "detail", "details", "description", "stderr", "stdout", "html", "reason"),
        *("traceback", "stack", "log", "logs", "comment", "body", "note"),
    }
)
_PROSE_ENDINGS: Final = frozenset(
    {"message", "detail", "details", "description", "stderr", "stdout", "html", "traceback"}
)
_SECRETS: Final = frozenset(
    {
        *("password", "passwd", "pwd", "passphrase", "passcode", "secret", "credential", "token"),
        *("authorization", "bearer", "cookie", "jwt", "apikey", "apitoken", "privatekey", "otp"),
        *("accesskey", "secretkey", "accesstoken", "sessiontoken", "authtoken"),
    }
)
_SECRET_KEYS: Final = frozenset(
    {"api", "access", "private", "secret", "signing", "encryption", "ssh", "account", "auth"}
)
_IDENTIFIERS: Final = frozenset({"id", "uuid", "guid", "slug", "ref", "key"})
_COUNTS: Final = re.compile(
    r"(?:.*_)?(?:page|limit|count|size|offset|total|depth|index|number|attempts|perpage|pagesize)"
    r"|per_page|page_size|max_[a-z]+|num_[a-z]+|.*(?:Page|Limit|Count|Size|Offset|Total|Number)",
    re.ASCII,
)
_NO_SECRET_TOKENS: Final = frozenset({"page", "continuation", "cursor", "next", "sync", "prev"})


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case."""
    return tuple(word.lower() for word in _WORD.findall(name))


def is_identifier_name(name: str, *, of_many: bool = False) -> bool:
    """Whether a member so named says which thing is meant (B02); ``of_many``: a list of them."""
    words = words_of(name)
    if not words:
        return False
    return words[-1] in _IDENTIFIERS or (of_many and _singular(words[-1]) in _IDENTIFIERS)


def is_count_name(name: str) -> bool:
    """Whether a member so named counts something, so that it is whole (B05)."""
    return _COUNTS.fullmatch(name) is not None


def is_prose_name(name: str | None) -> bool:
    """Whether a member so named bears what somebody wrote for people to read (E05)."""
    words = words_of(name or "")
    return bool(words) and (
        "_".join(words) in _PROSE_NAMES
        or words[-1] in _PROSE_ENDINGS
        or words in (("failure", "reason"), ("error", "reason"))
    )


def is_secret_name(name: str) -> bool:
    """Whether a member so named bears what opens something (E06)."""
    words = tuple(map(_singular, words_of(name)))
    if not words:
        return False
    *before, last = words
    if last == "token" and before and before[-1] in _NO_SECRET_TOKENS:
        return False
    if last == "key":
        return bool(before) and before[-1] in _SECRET_KEYS
    if last in ("header", "headers"):
        return bool(before) and before[-1] in ("auth", "authorization")
    return last in _SECRETS


def _singular(word: str) -> str:
    return word.removesuffix("s") if word[-2:-1] != "s" else word
