"""Managers that hold tasks and talk by messages (policies.talking): what they can do, and when messages arrive."""
