# Thin verbs; each line is what CI or a person would type.
default: check

check: lint types imports test

lint:
    uv run ruff check
    uv run ruff format --check

types:
    uv run mypy

imports:
    uv run lint-imports

test *args:
    uv run pytest {{args}}

# kill -9: 1,000 rounds of a store on SQLite, of a gate, and of two that share keys through Redis, 200
# of a store on PostgreSQL; figures are told.
crash:
    SLUICEGATE_FULL=1 uv run pytest --log-cli-level=INFO tests/faults/test_store_crash.py tests/faults/test_gate_crash.py tests/faults/test_shared_keys_crash.py tests/faults/test_postgres_crash.py

# The long forms: 100,000 marker cases, 8 × 2,000 audited calls, 1,000 rounds of kill -9.
full:
    SLUICEGATE_FULL=1 uv run pytest

bench:
    uv run --group bench python benchmarks/run.py

constraints:
    uv pip compile pyproject.toml --all-extras --group dev --generate-hashes --no-header --no-annotate -o constraints.txt
