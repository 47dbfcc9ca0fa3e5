"""nbgrader in a course's own server, beside the nbgrader_config.py of the course."""

import os

from distlab import exchange

c = get_config()  # noqa: F821
if folder := os.environ.get("DISTLAB_EXCHANGE"):
    c.Exchange.root = folder
else:  # a service of the Hub's has it
    exchange.use(c)
