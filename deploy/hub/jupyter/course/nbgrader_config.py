"""nbgrader in a course's own server, beside the nbgrader_config.py of the course."""

import os

c = get_config()  # noqa: F821
c.Exchange.root = os.environ["DISTLAB_EXCHANGE"]
