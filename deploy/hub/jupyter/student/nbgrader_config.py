"""nbgrader in a student's server: which courses are theirs, the Hub's groups say."""

import os

from distlab import exchange

c = get_config()  # noqa: F821
if folder := os.environ.get("DISTLAB_EXCHANGE"):
    c.Exchange.root = folder
else:  # a service of the Hub's has it
    exchange.use(c)
c.Exchange.path_includes_course = bool(os.environ.get("DISTLAB_SEVERAL_COURSES"))
c.Execute.timeout = 300  # seconds for a cell in Validate: some train for a while
c.Authenticator.plugin_class = "nbgrader.auth.JupyterHubAuthPlugin"
