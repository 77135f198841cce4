"""The settings of nbgrader in a student's server; jupyterhub_config.py names this folder."""

import os

c = get_config()  # noqa: F821 - nbgrader puts it there

c.Exchange.root = os.environ["ATTN_EXCHANGE"]
# Both courses have a ps2: attn-es/ps2 and attn-en/ps2.
c.Exchange.path_includes_course = True
# The hub says which courses the student takes.
c.Authenticator.plugin_class = "nbgrader.auth.JupyterHubAuthPlugin"
