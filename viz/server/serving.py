"""Serves the page: what `solara run --production --no-open` does, behind the guard, and nothing else."""

from __future__ import annotations

import logging
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from viz.server.guard import Guard
from viz.server.tabs import Tabs

# No telemetry is sent, nothing is fetched, and a page is soon forgotten once its tab is closed.
SURROUNDINGS = {
    "SOLARA_TELEMETRY_MIXPANEL_ENABLE": "false",
    "SOLARA_ASSETS_CDN": "http://127.0.0.1:9",
    "SOLARA_ASSETS_PROXY": "true",
    "SOLARA_KERNEL_CULL_TIMEOUT": "60s",
    "SOLARA_THEME_SHOW_BANNER": "false",
}
# What the page sends are clicks and numbers.
MOST_MESSAGE = 1_000_000
MOST_CONNECTIONS = 1000
LEAVING_S = 3


# Records of each line of code that are written, at most.
MOST_OF_A_KIND = 5


class Sparing(logging.Filter):
    """Lets the first records of each line of code through: a browser that goes on sending does not fill the log."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: Counter[tuple[str, int]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        place = (record.pathname, record.lineno)
        self._seen[place] += 1
        return self._seen[place] <= MOST_OF_A_KIND


def spare_the_log() -> None:
    """Have the handlers of the log, as they are now, write the first records of each kind only."""
    sparing = Sparing()
    loggers = [logging.getLogger(name) for name in ("", "reacton", "solara", "uvicorn")]
    handlers = [handler for logger in loggers for handler in logger.handlers]
    for handler in {*handlers, logging.lastResort}:
        if handler is not None:
            handler.addFilter(sparing)


def serve(page: Path, host: str, port: int, names: Sequence[str], max_tabs: int, max_tabs_each: int) -> None:
    """Serve a page until Ctrl-C or SIGTERM.

    Args:
        page: its file.
        host, port: where to listen.
        names: what requests may be for (guard.allowed_names).
        max_tabs: tabs at once, in all.
        max_tabs_each: tabs at once of one visitor.
    """
    from viz.first import compute_ahead, end

    compute_ahead()
    # Solara reads its settings when it is imported.
    os.environ.update(SURROUNDINGS)
    os.environ.update({"SOLARA_APP": str(page), "SERVER_NAME": host, "SERVER_PORT": str(port)})
    import uvicorn
    from solara.__main__ import LOGGING_CONFIG
    from solara.server import kernel_context, settings
    from solara.server.starlette import app

    settings.main.mode = "production"
    # Else a header of the first request says below which address everything is, for all that follow.
    settings.main.root_path = ""
    # Ten lines about pages in frames of others, which this one is not.
    warnings.filterwarnings("ignore", message="Cookies with samesite=none")
    tabs = Tabs(max_tabs, max_tabs_each, lambda: list(kernel_context.contexts))
    config = uvicorn.Config(
        Guard(app, names, tabs, Path(settings.assets.proxy_cache_dir)),
        host=host,
        port=port,
        http="h11",
        log_config=LOGGING_CONFIG,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        ws_max_size=MOST_MESSAGE,
        timeout_graceful_shutdown=LEAVING_S,
    )
    spare_the_log()
    try:
        uvicorn.Server(config).run()
    finally:
        end()
