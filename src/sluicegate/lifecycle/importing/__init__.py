"""From what others publish to the draft of a contract: closed, bounded, its open questions said."""
