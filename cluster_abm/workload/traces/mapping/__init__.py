"""From the rows of a foreign table to jobs, as a map of columns says."""
