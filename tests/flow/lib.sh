# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What every flow test uses. A test sources this, makes claims and checks each against the real
# programs of $BISECTD_BIN. All it writes lies below $work, which goes when it ends; what it started
# is ended too. BISECTD_KEEP=1 keeps $work. Nothing here sleeps to wait: waiting is for a lock, a
# pipe or a process, with a limit.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=${here%/tests/*}
make_repo=$source_dir/tests/support
: "${BISECTD_BIN:?is to name the folder of the programs}"
: "${BISECTD_SUPPORT:?is to name the folder of the test programs}"
export PATH=$BISECTD_BIN:$PATH
unset BISECTD_URL BISECTD_TOKEN_FILE XDG_STATE_HOME XDG_CONFIG_HOME
export BISECTD_QUIET_WAIT=0 # tests run beside each other

# What is written to memory is never slow, and always there: a test that needs a disk sets needs_disk.
if [ -n "${needs_disk-}" ] && [ "$(stat -f -c %T "${TMPDIR:-/tmp}")" = tmpfs ]; then
    export TMPDIR=/var/tmp
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/bisectd-flow.XXXXXX")
out=$work/out
err=$work/err
export HOME=$work/home GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1
mkdir "$HOME"
git config --global user.name "Flow Test"
git config --global user.email flow@example.org
git config --global protocol.file.allow always
git config --global init.defaultBranch main

claim_text="set up"
n_claims=0
nap=$((1000000 + $$)) # seconds that no other test sleeps, so that its sleepers can be told
started=() # processes to end

# The daemon of a store has gone when its lock is free.
wait_for_store() { # STORE
    [ ! -e "$1/lock" ] || flock -w 30 "$1/lock" true || echo "a daemon still holds $1" >&2
}

clean_up() {
    local status=$? pid lock
    trap - ERR
    set +e
    for pid in "${started[@]}"; do
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    while read -r lock; do
        wait_for_store "${lock%/lock}"
    done < <(find "$work" -name lock -type f 2>/dev/null)
    # In a sanitizer build, what a daemon or worker reported is in its log.
    if grep -rE 'ERROR: [A-Za-z]+Sanitizer|runtime error:' "$work" --include='*.log' -h -A 12 >&2; then
        claim_text="no sanitizer reports anything"
        status=1
    fi
    if [ $status -eq 0 ]; then
        echo "$n_claims claims hold"
    else
        echo "FAILED: $claim_text (exit $status, line $failed_line)" >&2
    fi
    if [ "${BISECTD_KEEP:-0}" = 1 ]; then
        echo "kept: $work" >&2
    else
        chmod -R u+rwX "$work" 2>/dev/null
        rm -rf "$work"
    fi
    exit $status
}
failed_line=0
trap 'failed_line=$LINENO' ERR
trap clean_up EXIT
set -E

claim() { # WORDS: what the checks that follow show
    claim_text=$1
    n_claims=$((n_claims + 1))
    echo "- $1"
}

nobody_naps() {
    ! pgrep -f "sleep $nap" >"$out" || fail "a sleeper lives on"
}

fail() { # WORDS
    echo "$claim_text: $1" >&2
    echo "--- stdout:" >&2
    cut -c 1-300 "$out" | head -n 80 >&2
    echo "--- stderr:" >&2
    tail -n 40 "$err" | cut -c 1-300 >&2
    exit 1
}

# Runs a command and checks its exit status; its output is in $out and $err.
run() { # STATUS COMMAND...
    local want=$1 status=0
    shift
    timeout -k 5 "${run_limit:-150}" "$@" >"$out" 2>"$err" </dev/null || status=$?
    [ $status -eq "$want" ] || fail "exit status is $status, not $want: $*"
}

json() { # FILTER [JQ OPTION...]: holds for the one JSON document in $out
    local filter=$1
    shift
    jq -es "$@" "(length == 1) and (.[0] | ($filter))" "$out" >/dev/null || fail "does not hold: $filter"
}

field() { # FILTER: of the document in $out
    jq -r "$1" "$out"
}

says() { # REGEX: in stdout or stderr, upper and lower case alike
    grep -qiE -- "$1" "$out" "$err" || fail "nobody said: $1"
}

says_not() { # REGEX
    if grep -qiE -- "$1" "$out" "$err"; then fail "somebody said: $1"; fi
}

# A bisection of good..bad in a repository of tests/support, as JSON. What explains a culprit is
# explain_test.sh's matter.
bisect() { # STATUS REPO ARGUMENT...
    local want=$1 repo=$2
    shift 2
    run "$want" bisectctl run --repo "$repo" --good good --bad bad --no-explain --json "$@"
}

is_culprit() { # HASH
    json '.state == "done" and .verdict == "culprit" and (.culprits | length) == 1 and
          .culprits[0].revision == $hash' --arg hash "$1"
}

commit_at() { # REPO NUMBER: of a line repository
    git -C "$1" rev-list --reverse good..bad | sed -n "$2p"
}

commits_at() { # REPO FIRST LAST: as a JSON list
    git -C "$1" rev-list --reverse good..bad | sed -n "$2,$3p" | jq -R . | jq -sc .
}

# Whether jobs can have walls here, by bwrap's own judgement.
walls_stand() {
    bwrap --unshare-user --unshare-all --ro-bind / / --proc /proc --dev /dev true >/dev/null 2>&1
}

# Starts a daemon and returns when it listens; its process is $daemon, its log $work/bisectd.log.
# Where the kernel refuses namespaces its jobs do without walls: sandbox_test.sh is about those.
serve() { # ARGUMENT...
    local pipe=$work/ready answer=
    walls_stand || set -- "$@" --sandbox plain
    rm -f "$pipe"
    mkfifo "$pipe"
    bisectd "$@" --ready-fd 8 8>"$pipe" 2>>"$work/bisectd.log" </dev/null &
    daemon=$!
    started+=("$daemon")
    read -r -t 30 answer <"$pipe" || true
    [ "$answer" = ready ] || { cat "$work/bisectd.log" >&2; fail "bisectd did not start"; }
}

stop() { # PID [SIGNAL]
    kill "-${2-TERM}" "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# One request to the daemon of a store; the body is in $out, the status in $http.
api() { # STORE METHOD PATH [BODY]
    local socket
    socket=$(socket_of "$1")
    http=$(curl -sS --max-time 60 --unix-socket "$socket" -X "$2" -o "$out" -w '%{http_code}' \
        ${4+-H 'Content-Type: application/json' --data-binary "$4"} "http://localhost$3" 2>"$err") ||
        fail "no answer to $2 $3"
}

# The private socket; a data folder with a long name has it elsewhere.
socket_of() { # STORE
    local path=$1/socket
    if [ ${#path} -le 100 ]; then
        echo "$path"
    else
        echo "${XDG_RUNTIME_DIR:-/tmp}/bisectd-$(id -u)/$(printf %s "$(realpath "$1")" | sha256sum | head -c 16).sock"
    fi
}

line_repo() { # NAME OPTION...: $work/NAME; its culprit's hash is in $answer
    answer=
    "$make_repo/make-line-repo" "$work/$1" --answer "$work/$1.answer" "${@:2}"
    [ ! -e "$work/$1.answer" ] || answer=$(cat "$work/$1.answer")
}

is_good_level='test "$(cat level)" = 100' # for the metric "exit"

# A project file for $work/NAME with lines of its own, which may say more than the command line;
# NAP becomes $nap.
project() { # NAME <<YAML
    {
        printf 'name: %s\nrepository: %s\nsubmodules: none\nplatforms: [linux-x64]\n' "$1" "$work/$1"
        sed "s/NAP/$nap/g"
    } >"$work/$1.yml"
}

bisect_project() { # STATUS NAME ARGUMENT...
    local want=$1 name=$2
    shift 2
    run "$want" bisectctl run --project "$work/$name.yml" --metric m --good good --bad bad \
        --store "$work/$name.store" --no-explain --json "$@"
}
