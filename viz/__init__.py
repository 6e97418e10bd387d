"""The page in the browser: frames of a run become inline SVG, which a small component shows.

`frame -> svg, charts, panels` are pure functions of cluster_abm's frames; `player` advances runs; `app` is the page.
It reads the public surface of cluster_abm only.
"""
