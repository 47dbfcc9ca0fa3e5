"""Servers as jobs of a Slurm cluster, by batchspawner."""

from __future__ import annotations

from typing import Any

#: every setting there can be below `slurm:` in hub.yaml
DEFAULTS: dict[str, Any] = {
    "partition": "",
    "gpus": 0,
    "hours": 4,
    "hub": "",  # the Hub's address as the nodes reach it
    "options": "",
}


def configure(c, settings) -> None:
    """Let each server be a job of its user, with `gpus` of one node.

    Raises:
        roster.Mistaken: hub.yaml has an unknown setting.
    """
    import batchspawner  # noqa: F401  registers its own handler with the Hub
    import roster

    for name in set(settings.slurm) - set(DEFAULTS):
        raise roster.Mistaken(f"slurm: {name!r} is none of {', '.join(DEFAULTS)}")
    wanted = {**DEFAULTS, **settings.slurm}
    c.SlurmSpawner.req_partition = wanted["partition"]
    c.SlurmSpawner.req_gres = f"gpu:{wanted['gpus']}" if wanted["gpus"] else ""
    c.SlurmSpawner.req_memory = settings.memory
    c.SlurmSpawner.req_nprocs = str(int(settings.cores))
    c.SlurmSpawner.req_runtime = f"{wanted['hours']}:00:00"
    c.SlurmSpawner.req_options = wanted["options"]
    c.SlurmSpawner.exec_prefix = "sudo -E -u {username}"
    # Slurm kills a job of its own accord: the server gets time to save
    c.SlurmSpawner.batch_script = BATCH
    if wanted["hub"]:
        c.JupyterHub.hub_connect_url = wanted["hub"]


BATCH = """#!/bin/bash
#SBATCH --job-name=distlab-{{username}}
#SBATCH --chdir={{homedir}}
#SBATCH --output={{homedir}}/.jupyterhub-%j.log
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task={{nprocs}}
#SBATCH --mem={{memory}}
#SBATCH --time={{runtime}}
#SBATCH --export={{keepvars}}
#SBATCH --get-user-env=L
{% if partition %}#SBATCH --partition={{partition}}
{% endif %}{% if gres %}#SBATCH --gres={{gres}}
{% endif %}{% if options %}#SBATCH {{options}}
{% endif %}
set -euo pipefail
trap 'echo SIGTERM received' TERM
{{prologue}}
{{cmd}}
{{epilogue}}
"""
