"""python -m distlab"""

from distlab.cli import main

raise SystemExit(main())
