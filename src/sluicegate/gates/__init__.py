"""The two ladders: the only place where order lives."""
