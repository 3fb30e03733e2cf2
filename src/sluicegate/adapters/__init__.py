"""Adapters obtain bytes plus provenance from one upstream; they decide nothing."""
