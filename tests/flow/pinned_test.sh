#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# isolation: cpus. Each worker measures on a CPU of its own, and builds keep to others.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 8 --culprit 5
project line <<'YAML'
build: {steps: ['grep Cpus_allowed_list /proc/self/status | cut -f2 >allowed; echo $BISECTD_JOBS >jobs']}
metrics:
  m:
    kind: value
    worse: up
    isolation: cpus
    command: 'grep Cpus_allowed_list /proc/self/status | cut -f2 >"$BISECTD_OUT/own"; if cmp -s allowed "$BISECTD_OUT/own"; then echo "on a CPU for building"; exit 9; fi; case $(cat "$BISECTD_OUT/own") in *[-,]*) echo "on several CPUs"; exit 9;; esac; test $BISECTD_JOBS = 1; cat level'
YAML
# One core cannot be divided: there the host is had alone, as ever.
cores=$(cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list 2>/dev/null | sort -u | wc -l)

if [ "$cores" -gt 1 ]; then
    claim "a run keeps to one CPU, and a build to CPUs that are not for measuring"
    bisect_project 0 line --workers 2
    is_culprit "$answer"
    run 0 bisectctl history --store "$work/line.store" --json
    json '.items | length > 0 and all(.environment.isolation == "cpus")'
else
    claim "with one core the host is had alone"
    bisect 0 "$work/line" --metric value:worse=up,isolation=cpus --measure 'cat level' --store "$work/one"
    run 0 bisectctl history --store "$work/one" --json
    json '.items | length > 0 and all(.environment.isolation == "exclusive")'
fi
