"""Other logs like a log: its users and weeks drawn anew, or its sessions shaken."""
