#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every #include stays within what the folder's row of bisectd/layers.txt allows.
#
#     layers.sh SOURCE_DIR BUILD_DIR
set -eu
cd "$1"

# Headers of libc and the kernel, which any edge folder may include.
system='^(sys|linux|netinet|arpa|asm)/|^(alloca|assert|ctype|dirent|endian|errno|fcntl|fenv|float|fnmatch|fts|ftw|getopt|glob|grp|inttypes|libgen|limits|locale|math|netdb|poll|pthread|pwd|regex|sched|semaphore|signal|spawn|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|syslog|termios|threads|time|ucontext|unistd|wchar|wctype)\.h$'
# What of it a pure folder may include.
pure='^(assert|ctype|errno|float|fnmatch|inttypes|limits|math|regex|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|strings|sys/param)\.h$'
# Header to pkg-config module.
modules='jansson.h=jansson zlib.h=zlib zstd.h=libzstd gnutls/=gnutls yaml.h=yaml-0.1 sqlite3.h=sqlite3
git2.h=libgit2 git2/=libgit2 curl/=libcurl microhttpd.h=libmicrohttpd'
# Where a row's library is for one file only.
alone='jansson.h=bisectd/base/json.c zstd.h=bisectd/base/stream.c zlib.h=bisectd/base/stream.c
gnutls/crypto.h=bisectd/base/hash.c'

awk -v system_headers="$system" -v pure_headers="$pure" -v modules="$modules" -v alone="$alone" '
function bad(what) { printf "%s:%d: %s\n", file, line, what; n_bad++ }
function has(list, word,    parts, i, n) {
    n = split(list, parts, ",")
    for (i = 1; i <= n; i++) if (parts[i] == word) return 1
    return 0
}
function module_of(header,    i) {
    for (i = 1; i <= n_modules; i++)
        if (index(header, module_header[i]) == 1) return module_name[i]
    return ""
}
function check_ours(header,    target) {
    target = header
    if (!sub(/\/[^\/]*$/, "", target)) { bad("\"" header "\" names no folder"); return }
    if (target == self) return
    if (!(target in known)) bad("\"" header "\": " target " has no row in layers.txt")
    else if (!has(uses[folder], target)) bad("\"" header "\": " folder " may not use " target)
}
function check_theirs(header,    module) {
    module = module_of(header)
    if (module == "" && header !~ system_headers)
        bad("<" header ">: neither of libc nor of a library in layers.txt")
    else if (module == "" && kind[folder] == "pure" && header !~ pure_headers)
        bad("<" header ">: " folder " is pure")
    else if (module != "" && !has(libs[folder], module))
        bad("<" header ">: " folder " may not use " module)
    if (folder == "bisectd/base" && header in only && only[header] != file)
        bad("<" header ">: only " only[header] " may include it")
}
BEGIN {
    n_modules = split(modules, pairs, /[ \n]+/)
    for (i = 1; i <= n_modules; i++) {
        split(pairs[i], two, "=")
        module_header[i] = two[1]; module_name[i] = two[2]
    }
    n = split(alone, pairs, /[ \n]+/)
    for (i = 1; i <= n; i++) { split(pairs[i], two, "="); only[two[1]] = two[2] }
    while ((getline row < "bisectd/layers.txt") > 0) {
        if (row ~ /^#/ || split(row, column, / +/) < 5) continue
        kind[column[1]] = column[2]; uses[column[1]] = column[3]; libs[column[1]] = column[4]
        short = column[1]; sub(/^bisectd\//, "", short); known[short] = 1
        n_rows++
    }
    if (n_rows == 0) { print "bisectd/layers.txt has no rows"; n_bad++ }
    command = "find bisectd workers config -name \"*.[ch]\" | LC_ALL=C sort"
    while ((command | getline file) > 0) {
        n_files++; line = 0
        folder = file; sub(/\/[^\/]*$/, "", folder)
        self = folder; sub(/^bisectd\//, "", self)
        if (!(folder in kind)) { bad(folder " has no row in layers.txt"); continue }
        while ((getline text < file) > 0) {
            line++
            if (text !~ /^[ \t]*#[ \t]*include/) continue
            header = text
            if (match(header, /"[^"]*"/)) check_ours(substr(header, RSTART + 1, RLENGTH - 2))
            else if (match(header, /<[^>]*>/)) check_theirs(substr(header, RSTART + 1, RLENGTH - 2))
            else bad("an #include this check cannot read")
        }
        close(file)
    }
    printf "layers: %d files, %d rows, %d violations\n", n_files, n_rows, n_bad
    exit n_bad > 0
}'
