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
    from sluicegate.cli.judge_question import Options
    from sluicegate.gates.verdicts import Verdict
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
    from sluicegate.cli.judge_options import (
        read_arguments,
        read_binds,
        read_fresh,
        read_request_id,
    )
    from sluicegate.cli.judge_question import Options
    from sluicegate.cli.times import read_time
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
    options = Options(
        side=cast("Literal['arguments', 'result']", side),
        strict=strict,
        max_bytes=max_bytes,
        max_depth=max_depth,
        integers=cast("Literal['any', 'i-json'] | None", integers),
        now=read_time(now, "--now"),
        request_id=read_request_id(request_id),
        bind=read_binds(bind),
        fresh=read_fresh(fresh),
        arguments=None if arguments is None else read_arguments(arguments),
    )
    verdict, source = _judge(options, schema_path, contract_path, file)
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
    options: Options, schema_path: str | None, contract_path: str | None, file: str
) -> tuple[Verdict, Source]:
    """Return the verdict and the text its findings are about: the document, or the schema."""
    from sluicegate.cli.judge_binds import name_bound
    from sluicegate.cli.judge_question import (
        DEFAULT_LIMITS,
        Asked,
        ask_by_contract,
        ask_by_schema,
    )
    from sluicegate.cli.reading import name_of, read_input
    from sluicegate.gates.judging import judge as judge_document
    from sluicegate.gates.verdicts import Verdict
    from sluicegate.rendering.places import Source
    from sluicegate.values.codes import Stage
    from sluicegate.values.digests import digest_of_bytes

    if schema_path is not None:
        asked = ask_by_schema(schema_path, options)
    else:
        asked = ask_by_contract(contract_path or "", options)
    if isinstance(asked, Asked):
        raw = read_input(file, asked.question.limits.max_bytes)
        verdict = name_bound(judge_document(raw, asked.question), options.bind, asked.contract)
        if verdict.stage is not Stage.REGISTER:
            return verdict, Source(name=name_of(file), raw=raw)
        return verdict, asked.source
    raw = read_input(file, options.max_bytes or DEFAULT_LIMITS.max_bytes)
    verdict = Verdict(
        accepted=False,
        stage=Stage.REGISTER,
        code=asked.findings[0].code,
        findings=asked.findings,
        digest=digest_of_bytes(raw),
    )
    return verdict, asked.source
