"""How a policy is found: by its name, in a file, or registered; and what is checked of its class then."""
