"""Acts upon nodes, jobs and tasks between slices: by agents, and by the scenario's script."""
