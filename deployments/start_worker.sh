#!/bin/sh
# Start a worker of the pool `lethe`, with the pool and the deployments brought up to date first.
set -eu
prefect work-pool create lethe --type process --overwrite
prefect --no-prompt deploy --all
exec prefect worker start --pool lethe --type process --name "${LETHE_WORKER_NAME:-$(hostname)}"
