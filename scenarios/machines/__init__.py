"""Times on other machines from runs on one: where a run's time goes, and how long it then takes elsewhere."""
