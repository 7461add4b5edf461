# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Writes a git history quickly: a fast-import stream built up in one file, loaded at the end.
# Sourced by the make-*-repo programs beside it.
#
#     history_begin DIR
#     history_commit main "Ada <ada@example.org>" "subject" [PARENT_MARK [MERGED_MARK]]
#     history_file src/main.c "$content"           # of that commit; also history_remove PATH
#     history_tag good MARK
#     history_end                                  # checks main out
#     history_hash MARK                            # 40 hex digits
#
# After history_commit, $history_mark is the new commit's mark.

LC_ALL=C # ${#text} counts bytes

history_begin() {
    history_dir=$1
    if [ -e "$history_dir" ]; then
        echo "${0##*/}: $history_dir is there already" >&2
        exit 1
    fi
    git init -q -b main "$history_dir"
    history_marks=$(mktemp)
    history_stream=$(mktemp)
    trap 'rm -f "$history_marks" "$history_stream"' EXIT
    history_mark=0
    history_time=1600000000
    exec 7>"$history_stream"
}

history_commit() { # BRANCH AUTHOR MESSAGE [PARENT [MERGED]]
    history_mark=$((history_mark + 1))
    history_time=$((history_time + 3600))
    printf 'commit refs/heads/%s\nmark :%d\nauthor %s %d +0000\ncommitter %s %d +0000\ndata %d\n%s\n' \
        "$1" "$history_mark" "$2" "$history_time" "$2" "$history_time" "${#3}" "$3" >&7
    [ -z "${4-}" ] || printf 'from :%d\n' "$4" >&7
    [ -z "${5-}" ] || printf 'merge :%d\n' "$5" >&7
}

history_file() { # PATH CONTENT [MODE]; a newline is added at the end
    printf 'M %s inline %s\ndata %d\n%s\n\n' "${3-100644}" "$1" $((${#2} + 1)) "$2" >&7
}

history_remove() { # PATH
    printf 'D %s\n' "$1" >&7
}

history_tag() { # NAME MARK
    printf 'reset refs/tags/%s\nfrom :%d\n\n' "$1" "$2" >&7
}

history_end() {
    exec 7>&-
    git -C "$history_dir" fast-import --quiet --export-marks="$history_marks" <"$history_stream"
    git -C "$history_dir" reset -q --hard main
}

history_hash() { # MARK
    awk -v mark=":$1" '$1 == mark {print $2}' "$history_marks"
}

# Numbers that repeat for a seed, on every machine: $random is below LIMIT.
random_seed() { # SEED
    random_state=$(($1 * 2654435761 + 88172645463325252))
    random_below 2
}

random_below() { # LIMIT
    random_state=$((random_state * 6364136223846793005 + 1442695040888963407))
    random=$((((random_state >> 33) & 0x3fffffff) % $1))
}
