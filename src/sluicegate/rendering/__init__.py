"""One verdict, shown to each reader in the reader's own form and escaping."""
