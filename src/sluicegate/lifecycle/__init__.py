"""What happens to a contract between two releases: lint, mutants, differences."""
