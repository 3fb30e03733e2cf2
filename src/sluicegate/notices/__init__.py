"""Drift notices to owners: the log and webhooks, behind the Notifier port."""
