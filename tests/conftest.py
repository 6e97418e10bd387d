"""What all tests share: how hypothesis searches."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How long an example takes depends on what else the machine does and on what was compiled before: no test measures it.
settings.register_profile("cluster_abm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("cluster_abm")
