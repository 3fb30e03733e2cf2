"""One pure module a stage: each takes the previous rung's evidence, returns its own or Rejected."""
