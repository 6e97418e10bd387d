"""What compiled policies can do with views, tasks and queues."""
