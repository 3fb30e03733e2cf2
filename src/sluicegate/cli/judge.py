"""``sluicegate judge``: one document, one schema, the same rungs as a served call or answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    GITHUB,
    HUMAN,
    choose_paint,
    choose_width,
    color_option,
    format_option,
    put,
    put_object,
)

if TYPE_CHECKING:
    from sluicegate.gates.verdicts import Verdict
    from sluicegate.opening.judging_binds import Unbound, UnfitArguments
    from sluicegate.opening.judging_files import Terms
    from sluicegate.rendering.places import Source


@click.command()
@click.option("--schema", "schema_path", metavar="S.json", help="A 2020-12 schema, strict JSON.")
@click.option("--contract", "contract_path", metavar="C.yaml", help="A contract; see --side.")
@click.option("--strict", is_flag=True, help="Hold the schema to all that a contract must obey.")
@click.option(
    "--side",
    type=click.Choice(["arguments", "result"]),
    default="result",
    show_default=True,
    help="Whether the document is a call's arguments or an answer's data.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    help="Limit on the document.  [default: 262144]",
)
@click.option(
    "--max-depth",
    type=click.IntRange(1, 200),
    help="Limit on nesting.  [default: 32]",
)
@click.option(
    "--integers",
    type=click.Choice(["any", "i-json"]),
    help="i-json refuses integers beyond ±(2^53−1).  [default: any]",
)
@click.option("--now", metavar="T", help="The time to judge --fresh by.  [default: this moment]")
@click.option("--request-id", metavar="R", help="The id that the document must bear.")
@click.option("--bind", metavar="POINTER=VALUE", multiple=True, help="An exact value; repeatable.")
@click.option(
    "--arguments",
    metavar="JSON|@FILE",
    help="With --contract: the arguments that the answer is bound to.",
)
@click.option("--fresh", metavar="POINTER:MAX_AGE_S[:MAX_AHEAD_S]", help="How old it may be.")
@click.argument("file", default="-", metavar="[FILE|-]")
@format_option(github=True)
@color_option
def judge(
    *,
    schema_path: str | None,
    contract_path: str | None,
    strict: bool,
    side: str,
    max_bytes: int | None,
    max_depth: int | None,
    integers: str | None,
    now: str | None,
    request_id: str | None,
    bind: tuple[str, ...],
    arguments: str | None,
    fresh: str | None,
    file: str,
    form: str,
    color: str,
) -> int:
    """Judge FILE, or stdin, by a schema or a contract.

    Exit 0 accepted, 1 rejected, 4 the schema does not load, 5 a file cannot be read. A contract
    that binds its result is judged by the values it is bound to: give --arguments, or each with
    --bind. A value of --bind is read as JSON where it is a JSON string, number or boolean; any
    other text stands for itself.
    """
    from sluicegate.cli import times
    from sluicegate.cli.judge_options import (
        read_arguments,
        read_binds,
        read_fresh,
        read_request_id,
    )
    from sluicegate.opening.judging_files import Terms
    from sluicegate.rendering.github import render_verdict_github
    from sluicegate.rendering.json_v1 import shape_verdict
    from sluicegate.rendering.terminal import render_verdict
    from sluicegate.values.codes import Stage

    if (schema_path is None) == (contract_path is None):
        raise click.UsageError("give either --schema or --contract")
    if "-" in (schema_path, contract_path):
        raise click.UsageError("schema and contract are files; stdin is for the document")
    if arguments is not None and (contract_path is None or side == "arguments"):
        raise click.UsageError("--arguments are what a contract binds its result to")
    terms = Terms(
        side=cast("Literal['arguments', 'result']", side),
        strict=strict,
        max_bytes=max_bytes,
        max_depth=max_depth,
        integers=cast("Literal['any', 'i-json'] | None", integers),
        now=times.read_time(now, "--now") or times.now(),
        request_id=read_request_id(request_id),
        bind=read_binds(bind),
        fresh=read_fresh(fresh),
        arguments=None if arguments is None else read_arguments(arguments),
        said="the value given with --bind",
    )
    verdict, source = _judge(terms, schema_path, contract_path, file)
    if form == HUMAN:
        put(render_verdict(verdict, source, paint=choose_paint(color), width=choose_width()))
    elif form == GITHUB:
        put(render_verdict_github(verdict, source))
    else:
        put_object("judge", shape_verdict(verdict, source))
    if verdict.accepted:
        return Exit.ACCEPTED
    return Exit.DOES_NOT_LOAD if verdict.stage is Stage.REGISTER else Exit.REJECTED


def _judge(
    terms: Terms, schema_path: str | None, contract_path: str | None, file: str
) -> tuple[Verdict, Source]:
    """Return the verdict and the text its findings are about: the document, or the schema."""
    from sluicegate.cli.reading import name_of, read_input
    from sluicegate.opening.judging_binds import Unbound, UnfitArguments
    from sluicegate.opening.judging_files import (
        SCHEMA_LIMITS,
        ask_by_contract,
        ask_by_schema,
        judge_asked,
        max_bytes_of,
    )
    from sluicegate.rendering.places import Source
    from sluicegate.values.codes import Stage

    named = schema_path or contract_path or ""
    text = read_input(named, SCHEMA_LIMITS.max_bytes)
    if schema_path is not None:
        asked = ask_by_schema(schema_path, text, terms)
    else:
        found = ask_by_contract(named, terms)
        if isinstance(found, Unbound | UnfitArguments):
            raise _as_misuse(found)
        asked = found
    raw = read_input(file, max_bytes_of(asked, terms))
    verdict = judge_asked(asked, raw, terms)
    if verdict.stage is Stage.REGISTER:
        return verdict, asked.source
    return verdict, Source(name=name_of(file), raw=raw)


def _as_misuse(fault: Unbound | UnfitArguments) -> click.UsageError:
    from sluicegate.opening.judging_binds import Unbound
    from sluicegate.values.names import show_name

    if isinstance(fault, Unbound):
        at = ", ".join(map(show_name, fault.places))
        if fault.to_caller:
            return click.UsageError(
                f"this contract binds {at} to the caller: give --bind {at}=VALUE"
            )
        return click.UsageError(f"this contract binds {at}: give --arguments or --bind")
    return click.BadParameter(
        f"they do not fit the contract: {fault.code} at {fault.pointer or 'the whole document'}",
        param_hint="--arguments",
    )
