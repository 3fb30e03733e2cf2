"""Spans and metrics of calls, made from events and answers alone; never arguments or results."""
