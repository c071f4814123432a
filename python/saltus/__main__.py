"""`python -m saltus sweep | optimise STUDY`: what `saltus sweep` hands over to."""
import sys

from .studies.command import main

if __name__ == "__main__":
    sys.exit(main())
