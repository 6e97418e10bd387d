"""Managers that hold tasks and talk by messages (policy.talking): what they can do, and when messages arrive."""
