"""What others do with the same bytes: one builder a peer, each returns the work to time.

A builder imports its library itself, so that one which is not installed costs its row only.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

from documents import Document

Work = Callable[[], object]


def parse_strictly(document: Document) -> Work:
    """The parser alone: the floor under every ladder."""
    from jiter import from_json

    raw = document.raw
    return lambda: from_json(
        raw, allow_inf_nan=False, cache_mode="keys", partial_mode=False, catch_duplicate_keys=True
    )


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate member")
    return members


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def validate_with_jsonschema(document: Document) -> Work:
    """json with hooks for duplicates and constants, then python-jsonschema, built once."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(
        document.envelope, format_checker=Draft202012Validator.FORMAT_CHECKER
    )

    def work() -> object:
        value = json.loads(
            document.raw, object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant
        )
        assert validator.is_valid(value)
        return value

    return work


def check_as_mcp_client(document: Document) -> Work:
    """``ClientSession.validate_tool_result`` of the official SDK, after ``json.loads``."""
    from mcp.client.session import ClientSession
    from mcp.types import CallToolResult

    session = ClientSession.__new__(ClientSession)
    session._tool_output_schemas = {document.tool: document.envelope}
    session._tool_output_validators = {}

    def work() -> object:
        value = json.loads(document.raw)
        result = CallToolResult.model_construct(content=[], structured_content=value)
        checking = session.validate_tool_result(document.tool, result)
        try:
            checking.send(None)
        except StopIteration:
            return value
        raise AssertionError("the check waited for something")

    return work


def validate_with_fastjsonschema(document: Document) -> Work:
    """``json.loads`` and generated draft-07 code."""
    import fastjsonschema

    schema = {**document.envelope, "$schema": "http://json-schema.org/draft-07/schema#"}
    del schema["$id"]
    check = fastjsonschema.compile(schema)
    return lambda: check(json.loads(document.raw))


_Id = {"min_length": 1, "max_length": 64, "pattern": "^[A-Za-z0-9_-]+$"}


def decode_with_pydantic(document: Document) -> Work:
    """``validate_json`` of strict, closed models with the same patterns and bounds."""
    from datetime import datetime

    from pydantic import BaseModel, ConfigDict, EmailStr, Field, StringConstraints, TypeAdapter

    try:
        TypeAdapter(EmailStr)
        address: Any = Annotated[EmailStr, Field(max_length=254)]
    except ImportError:  # email-validator is an extra of pydantic: without it, a pattern
        address = Annotated[str, Field(max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]
    identifier = Annotated[str, StringConstraints(**_Id)]

    class Closed(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid")

    class Review(Closed):
        project_id: identifier
        article_id: identifier
        status: Literal["pending", "approved", "rejected"]
        observed_at: datetime
        signed_by: identifier

    class Owner(Closed):
        id: identifier
        email: address

    class Row(Closed):
        id: Annotated[int, Field(ge=1)]
        title: Annotated[str, Field(min_length=1, max_length=200)]
        state: Literal["open", "closed", "merged"]
        score: Annotated[float, Field(ge=0, le=1)]
        updated_at: datetime
        owner: Owner
        tags: Annotated[
            list[Annotated[str, Field(min_length=1, max_length=32)]], Field(max_length=10)
        ]

    class Reviews(Closed):
        project_id: identifier
        observed_at: datetime
        rows: Annotated[list[Row], Field(max_length=100_000)]

    shape = Review if document.name == "small" else Reviews

    class Success(Closed):
        tool: str
        request_id: identifier
        outcome: Literal["success"]
        data: shape

    adapter = TypeAdapter(Success)
    return lambda: adapter.validate_json(document.raw)


def decode_with_msgspec(document: Document) -> Work:
    """A typed, closed decoder with the same patterns and bounds; no formats but date-time."""
    from datetime import datetime

    import msgspec
    from msgspec import Meta, Struct, defstruct

    identifier = Annotated[str, Meta(**_Id)]

    def closed(name: str, **fields: Any) -> type[Struct]:
        return defstruct(name, list(fields.items()), forbid_unknown_fields=True)

    owner = closed("Owner", id=identifier, email=Annotated[str, Meta(max_length=254)])
    row = closed(
        "Row",
        id=Annotated[int, Meta(ge=1)],
        title=Annotated[str, Meta(min_length=1, max_length=200)],
        state=Literal["open", "closed", "merged"],
        score=Annotated[float, Meta(ge=0, le=1)],
        updated_at=datetime,
        owner=owner,
        tags=Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=32)]], Meta(max_length=10)
        ],
    )
    reviews = closed("Reviews", project_id=identifier, observed_at=datetime, rows=list[row])
    review = closed(
        "Review",
        project_id=identifier,
        article_id=identifier,
        status=Literal["pending", "approved", "rejected"],
        observed_at=datetime,
        signed_by=identifier,
    )
    success = closed(
        "Success",
        tool=str,
        request_id=identifier,
        outcome=Literal["success"],
        data=review if document.name == "small" else reviews,
    )
    decoder = msgspec.json.Decoder(success)
    return lambda: decoder.decode(document.raw)


PEERS: dict[str, tuple[str, Callable[[Document], Work]]] = {
    "parse": ("jiter, strict: the parse floor", parse_strictly),
    "msgspec": ("msgspec, typed and closed", decode_with_msgspec),
    "pydantic": ("pydantic, strict and closed", decode_with_pydantic),
    "fastjsonschema": ("json + fastjsonschema (draft-07)", validate_with_fastjsonschema),
    "jsonschema": ("json + jsonschema, prebuilt, with formats", validate_with_jsonschema),
    "mcp": ("official MCP client's check", check_as_mcp_client),
}
"""Key → (what the table calls it, builder)."""
