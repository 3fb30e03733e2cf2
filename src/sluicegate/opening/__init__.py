"""The composition root: reads a folder and hands back a Gate with everything wired."""
