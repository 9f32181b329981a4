#!/bin/sh
# Pool, limit, automations and deployments, made or brought up to date; run before workers start.
set -eu
python deployments/bootstrap.py
prefect --no-prompt deploy --all
