"""Between the submission of a job and its start: schedules, users, and queues in which a policy holds jobs."""
