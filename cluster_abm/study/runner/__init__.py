"""Carries runs out, here or elsewhere, and books what comes of them."""
