"""Drift notices to owners: the log, webhooks and Apprise, behind the Notifier port."""
