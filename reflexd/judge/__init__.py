"""Who answers questions about a call. Each judge is a module of its own; what all have in common is in `values`."""
