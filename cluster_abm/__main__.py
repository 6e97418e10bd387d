"""`python -m cluster_abm`."""

from cluster_abm.cli import main

if __name__ == "__main__":
    main()
