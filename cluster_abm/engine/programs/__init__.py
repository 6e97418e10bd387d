"""What programs do beside computing: a node's own background, and the phases of activity profiles."""
