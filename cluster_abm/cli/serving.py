"""Serves the page: what `solara run --production --no-open` does, behind the guard, and nothing else."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from cluster_abm.cli.guard import Guard
from cluster_abm.cli.tabs import Tabs

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


def serve(page: Path, host: str, port: int, names: Sequence[str], max_tabs: int) -> None:
    """Serve a page until Ctrl-C or SIGTERM.

    Args:
        page: its file.
        host, port: where to listen.
        names: what requests may be for (guard.allowed_names).
        max_tabs: so many tabs at once.
    """
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
    tabs = Tabs(max_tabs, lambda: list(kernel_context.contexts))
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
    uvicorn.Server(config).run()
