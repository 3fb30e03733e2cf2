"""A setting that names a Redis is held to its form before any client reads it."""

from __future__ import annotations

import pytest
from redis import exceptions

from sluicegate.errors import ConfigurationError
from sluicegate.opening.redis_places import RedisPlace, find_redis, open_pool, say_silent

SETTING = "limits.key_store"

PLACES = {
    "redis://127.0.0.1": RedisPlace(host="127.0.0.1", port=6379, database=0, tls=False),
    "redis://h:6400/12": RedisPlace(host="h", port=6400, database=12, tls=False),
    "rediss://[::1]:6400/": RedisPlace(host="::1", port=6400, database=0, tls=True),
    "redis://:p%40ss@h/1": RedisPlace(host="h", port=6379, database=1, tls=False, password="p@ss"),
    "redis://gate:s3cret@h/1": RedisPlace(
        host="h", port=6379, database=1, tls=False, user="gate", password="s3cret"
    ),
}


@pytest.mark.requirement("ADP-5", "ACC-4")
@pytest.mark.parametrize("address", PLACES)
def test_an_address_of_a_variable_names_one_place(address: str) -> None:
    place = find_redis("redis:env:KEYS", SETTING, {"KEYS": address})
    assert (place, place.password) == (PLACES[address], PLACES[address].password)
    assert place.password is None or place.password not in repr(place)


@pytest.mark.requirement("ADP-5", "CON-1")
@pytest.mark.parametrize(
    "address",
    [
        "rediss://h/0?ssl_cert_reqs=none",
        "rediss://h/0?ssl_check_hostname=False",
        "redis://h/0?password=SECRET",
        "redis://h/0?socket_timeout=50",
        "redis://h/0?redis_connect_func=SECRET",
        "redis://h/0?connection_class=SECRET",
        "redis://h/0#SECRET",
        "redis://h/SECRET",
        "redis://h:SECRET/0",
        "redis:///0",
        "unix:///SECRET",
        "SECRET",
    ],
)
@pytest.mark.parametrize("form", ["{}", "redis:env:KEYS"])
def test_an_address_with_anything_else_is_refused_and_not_repeated(address: str, form: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^limits\.key_store: .*no address") as refused:
        find_redis(form.format(address), SETTING, {"KEYS": address})
    assert "SECRET" not in str(refused.value)


@pytest.mark.requirement("ADP-5")
def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(ConfigurationError, match="the variable KEYS is not set"):
        find_redis("redis:env:KEYS", SETTING, {})


@pytest.mark.requirement("ADP-2")
def test_tls_is_checked_and_has_no_switch() -> None:
    options = open_pool("rediss://h/0", SETTING).connection_kwargs
    checked = {name: options[name] for name in ("ssl_cert_reqs", "ssl_check_hostname")}
    assert checked == {"ssl_cert_reqs": "required", "ssl_check_hostname": True}


FAILURES = {
    "password": (exceptions.AuthenticationError("SECRET"), "refuses who asks"),
    "no password": (exceptions.ResponseError("NOAUTH Authentication required."), "who asks"),
    "rights": (exceptions.NoPermissionError("SECRET"), "refuses a command (NoPermissionError)"),
    "loading": (exceptions.BusyLoadingError("SECRET"), "still loads its data"),
    "database": (exceptions.ResponseError("DB index is out of range"), "no such database"),
    "another refusal": (exceptions.ResponseError("SECRET"), "refuses a command (ResponseError)"),
    "nobody there": (exceptions.ConnectionError("SECRET"), "does not answer (ConnectionError)"),
    "silent": (exceptions.TimeoutError("SECRET"), "does not answer (TimeoutError)"),
    "no way": (OSError("SECRET"), "does not answer (OSError): start it"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize(("error", "says"), FAILURES.values(), ids=FAILURES)
def test_what_redis_did_is_told_apart_and_never_in_its_words(error: Exception, says: str) -> None:
    told = str(say_silent(SETTING, error))
    assert (told.startswith(f"{SETTING}: Redis "), says in told) == (True, True)
    assert "SECRET" not in told
