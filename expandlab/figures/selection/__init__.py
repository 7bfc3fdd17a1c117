"""Pictures of top-k selections: `page` makes the panel's, of three views."""
