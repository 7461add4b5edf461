#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What this machine is like to measure on, held against what the system itself says.
. "$(dirname "$0")/lib.sh"

claim "the machine is described as the system tells it"
run 0 bisectctl doctor --folder "$work" --json
json '.machine.cpus == $n' --argjson n "$(getconf _NPROCESSORS_ONLN)"
json '.machine.kernel == $k' --arg k "$(uname -r)"
json '.machine.aslr == $a' --argjson a "$(cat /proc/sys/kernel/randomize_va_space 2>/dev/null || echo null)"
json '[.findings[] | .says | length > 0] | all and length >= 12'

claim "its noise is measured"
json '.noise.wall | .n >= 30 and .low_ms > 0 and .low_ms <= .median_ms and .median_ms <= .p95_ms and .p95_ms <= .high_ms'
json '.noise.cpu | .n >= 30 and .sd_percent >= 0 and .sd_percent < 100'
json '.noise.fsync | .n >= 30 and .high_ms >= .low_ms'
json '.kinds | length > 3 and all(.advice | length > 0)'
[ -z "$(ls -A "$work" | grep doctor || true)" ] || fail "a file was left behind"

claim "tools are tried, and what is not there is named with its package"
json '.tools[] | select(.name == "git") | .works'
mkdir "$work/few"
ln -s "$(command -v bisectctl)" "$work/few/"
run 0 env PATH="$work/few" "$work/few/bisectctl" doctor --folder "$work" --json
json '[.tools[] | select(.works)] == []'
json '.tools[] | select(.name == "perf") | .says | test("not installed .package linux-perf")'

claim "where files cannot be written, the rest is told all the same"
run 0 bisectctl doctor --folder /proc --json
json '.noise.fsync == null and .noise.wall.n >= 30'
run 0 bisectctl doctor --folder /proc
says 'not measured: make a file in /proc: '

claim "what is no folder is refused"
for wrong in "$work/none" /etc/passwd; do
    run 2 bisectctl doctor --folder "$wrong"
    says "folder: $wrong is no folder"
done
run 0 bisectctl doctor --folder /proc

claim "text for people has the same, and advice"
says 'What makes it noisy'
says 'CPUs +[0-9]+'
says 'a loop, cpu +sd [0-9.]+ %'
says 'wall, ts: changes of [0-9.]+ % and more'

claim "it takes no words"
run 2 bisectctl doctor this
says 'doctor does not take "this"'
