"""How foreign tables lie in their files: each layout is one module with `read`, found by its name."""
