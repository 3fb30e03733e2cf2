"""From documents (names and bytes) to an immutable contract set. No file is opened here."""
