#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# System calls: logs of strace compared, and their number as a metric.
. "$(dirname "$0")/lib.sh"

export PATH=$BISECTD_SUPPORT:$PATH
cd "$work"
no_leaks="ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" # a sanitizer cannot look for them while traced
traced() { # OPTION... COMMAND...
    env "$no_leaks" strace "$@"
}

diff_json() { # BEFORE AFTER [ARGUMENT...]
    run 0 bisectctl syscalls diff "$@" --json
}

# The counts of fsync on a path, before and after, are these.
counts() { # PATH BEFORE AFTER
    json '[.differences[] | select(.call == "fsync" and .path == $path) | .count] == [[$b, $a]]' \
        --arg path "$1" --argjson b "$2" --argjson a "$3"
}

claim "lines that try to mislead are read as what they are"
cat >hostile <<'END'
1905  1796023600.180340 fsync(3</p/places.sqlite-wal>) = 0 <0.000592>
1906  1796023600.181000 fdatasync(4</p/places.sqlite> <unfinished ...>
1905  1796023600.181500 write(3</p/a b (1).db>, "= 0 <0.1>\"\\\1\29"..., 4096) = 4096 <0.000021>
1906  1796023600.183250 <... fdatasync resumed>) = 0 <0.002250>
1905  1796023600.184000 read(5<pipe:[47528]>,  <unfinished ...>
1905  1796023600.190000 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
1905  1796023600.190010 <... read resumed>0x7ffd00000000, 4) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.006010>
1905  1796023600.190200 read(5<pipe:[47528]>, "done", 4) = 4 <0.000009>
1905  1796023600.191000 openat(AT_FDCWD</p>, "no\"such", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>
1905  1796023600.192000 sendto(7<TCP:[127.0.0.1:58136->127.0.0.1:39797]>, "x", 1, 0, NULL, 0) = 1 <0.000030>
1905  1796023600.193000 fsync(8</p/gone>(deleted)) = 0 <0.000100>
1905  1796023600.194000 exit_group(0) = ?
1905  1796023600.194100 +++ exited with 0 +++
1906  1796023600.194200 +++ killed by SIGSEGV (core dumped) +++
23742 openat(AT_FDCWD</w>, "<... fsync resumed>) = 0 (x).db", O_RDWR|O_CREAT, 0644) = 5</w/\74... fsync resumed\76) = 0 (x).db> <0.000148>
23744 fsync(5</w/\74... fsync resumed\76) = 0 (x).db>) = 0 <0.000440>
23745 fsync(5</w/\74... fsync resumed\76) = 0 (x).db> <unfinished ...>
23745 <... fsync resumed>)              = 0 <0.001288>
1958  fsync(5 <unfinished ...>
)      = 0 <0.000181>
2000  fsync(3</p/places.sq
END
diff_json /dev/null hostile
json '.after | .calls == 10 and .restarted == 1 and .errors == 1 and
      .rejects == {"unknown": 1, "cut": 1, "no_end": 1}'
json '[.differences[] | select(.call | test("sync")) | [.path, .count[1], (.seconds[1] * 1e6 | round), .group]] | sort ==
      [["/p/gone", 1, 100, "other"], ["/p/places.sqlite", 1, 2250, "database"], ["/p/places.sqlite-wal", 1, 592, "wal"],
       ["/w/<... fsync resumed>) = 0 (x).db", 2, 1728, "database"]]'
run 0 bisectctl syscalls diff /dev/null hostile
says '1 calls? cut off|cut off in the middle: 0 before, 1 after'

# 100 processes at once. Each syncs the database, its journal and something else.
hundred() { # SYNCS
    local i
    for ((i = 0; i < 100; i++)); do
        (
            callmany 50 "$1" places.sqlite
            callmany 10 1 places.sqlite-journal
            exec callmany 10 2 "other.$i.db"
        ) &
    done
    wait
}
export -f hundred
trace() { # FOLDER SYNCS OPTION...
    mkdir -p "$1"
    traced "${@:3}" -o "$1/t" -e trace=fsync,openat,close,clone,fork,vfork,execve,dup2 bash -c "hundred $2"
}
by_grep() { # PATTERN FILE...
    grep -hE "${@:1:1}" "${@:2}" | wc -l
}
trace before 1 -ff -y -T
trace after 5 -ff -y -T

claim "folders of -ff logs of 100 processes are compared, and grep counts the same"
[ "$(find before -type f | wc -l)" -gt 100 ] || fail "there are not 100 logs"
b=$(by_grep '^fsync\(.*places\.sqlite' before/*)
a=$(by_grep '^fsync\(.*places\.sqlite' after/*)
[ "$b" -eq 200 ] && [ "$a" -eq 600 ] || fail "the program does not do what it is meant to: $b $a"
diff_json before after --path '*places.sqlite*' --call fsync
json '.before.selected == $b and .after.selected == $a and .before.rejects == {} and .after.rejects == {}' \
    --argjson b "$b" --argjson a "$a"
counts "$work/places.sqlite" 100 500
json '[.differences[].group] | sort == ["database", "journal"]'
diff_json before after --call fsync
json '.differences[0] | .path == $path and .count == [100, 500]' --arg path "$work/places.sqlite"
json '[.differences[] | select(.path | test("other")) | .count[0] == .count[1]] | all'

claim "so are the common name of such logs, and packed ones"
cp "$out" plain.json
diff_json before/t after/t --call fsync
cmp -s plain.json "$out" || fail "the common name gives another answer"
cp -r before packed
zstd -q --rm packed/*1
gzip packed/*[02-9]
diff_json packed after --call fsync
json '.before == $plain[0].before and .differences == $plain[0].differences' --slurpfile plain plain.json

claim "without -y, descriptors are followed from the call that made them"
trace bare 3 -ff -T
diff_json before bare --path '*places.sqlite*' --call fsync
json '.after.selected == 400 and .after.rejects == {}'
run 0 bisectctl syscalls diff before bare
says 'strace -y'

run 0 bisectctl syscalls diff /dev/null after
says_not 'strace -y'

claim "one log of all processes, in a file or from a terminal, tells the same"
traced -f -y -o f.log -e trace=fsync bash -c 'hundred 3'
traced -f -y -e trace=fsync bash -c 'hundred 3' 2>terminal.log
for log in f.log terminal.log; do
    diff_json /dev/null $log --path '*places.sqlite*'
    json '.after.selected == 400 and .after.rejects == {}'
done

claim "a log that was cut off is read up to there, and a call in two lines is told"
head -c $(($(wc -c <f.log) / 2)) f.log >cut.log
diff_json cut.log f.log --call fsync
json '.before.selected > 0 and .before.selected < .after.selected'
json '.before.rejects | keys - ["cut", "no_end"] == []'

claim "a file name that looks like strace's own words is a file name"
name='<... fsync resumed>) = 0 (x).db'
traced -f -y -o odd.log -e trace=fsync callmany 5 7 "$name"
diff_json /dev/null odd.log
counts "$work/$name" 0 7

claim "tables of strace -c are compared too"
traced -f -c -w -e trace=fsync,openat -o table.before callmany 5 2 x
traced -f -c -w -e trace=fsync,openat -o table.after callmany 5 9 x
diff_json table.before table.after
json '[.differences[] | select(.call == "fsync") | [.count, .path]] == [[[2, 9], ""]]'

claim "sets that were made in different ways are matched"
diff_json table.before f.log --call fsync
json '.by_call and ([.differences[] | [.path, .count]] == [["", [2, 600]]])'
run 0 bisectctl syscalls diff table.before f.log
says 'compared by call alone'
traced -f -T -o bare.log -e trace=fsync,openat callmany 5 2 same.db
traced -f -T -y -o full.log -e trace=fsync,openat callmany 5 9 same.db
diff_json bare.log full.log --call fsync
counts "$work/same.db" 2 9

claim "what is no trace is refused, and what is cut short is told"
run 2 bisectctl syscalls diff f.log /etc/passwd
says '/etc/passwd: no line of it is a system call as strace writes them \([0-9]+ lines; first: root:'
run 2 bisectctl syscalls diff /bin/ls f.log
says '/bin/ls: no line of it is a system call'
printf '\xfd7zXZ\0and so on\n' >f.log.xz
run 2 bisectctl syscalls diff f.log f.log.xz
says 'f.log.xz: packed with xz'
gzip -c f.log | head -c 1500 >short.gz
run 0 bisectctl syscalls diff f.log short.gz
says 'warning: short.gz: packed data .*read up to there'
head -c 12 short.gz >empty.gz
run 2 bisectctl syscalls diff f.log empty.gz
says 'empty.gz: packed data .*no call can be read'
run 0 bisectctl syscalls diff f.log f.log --call fsync,fdatasyn
says 'no call fdatasyn in either'
traced -o none.log -e trace=fsync true
run 0 bisectctl syscalls diff none.log f.log
echo 'fsync(3) = 0 <-5.0>' >odd.time
diff_json odd.time odd.time
json '.before.rejects == {"odd_time": 1} and .before.seconds == null'

claim "a system call that does not exist is refused before anything is built"
git init -q nothing.git
run 2 bisectctl run --repo nothing.git --good a --bad b --build true --measure true --metric syscalls:calls=fsyncc
says 'Linux has no system call fsyncc'

claim "what is wrong with a question is said, with status 2"
run 2 bisectctl syscalls diff before nowhere
says 'nowhere: no such file'
mkdir nothing
run 2 bisectctl syscalls diff before nothing
says 'holds no files'
run 2 bisectctl syscalls diff before after --call 'fsync;rm'
says '\-\-call: expected names'
run 2 bisectctl syscalls diff before after --path ''
says '\-\-path: expected a pattern'
run 2 bisectctl syscalls diff before
run 0 bisectctl syscalls diff before after --path 'places.sqlite'
says 'the whole path has to match'

claim "the number of fsyncs of a program finds the commit, with few runs and no doubt"
"$make_repo/make-demo-repo" "$work/demo" --answer "$work/demo.answer"
run 0 bisectctl run --repo demo --good v1.0 --bad main --build 'make -s -j$BISECTD_JOBS' --artifact notes \
    --measure './notes $BISECTD_OUT/notes.db' --metric 'syscalls:calls=fsync+fdatasync,path=*notes.db*' \
    --store demo.store --json
is_culprit "$(cat demo.answer)"
json '.culprits[0] | .good.mean < 10 and .delta > 250 and .interval == [.delta, .delta]'
# Two runs at the ends, one of each other; and those of the verification, with fresh builds.
json '.cost.runs <= 2 * .cost.builds'
json '.metric == {"name": "syscalls", "unit": "calls", "lower_is_better": true}'
run 0 bisectctl list --store demo.store --json
run 0 bisectctl log "$(field '.items[0].id')" "$(head -c 12 demo.answer)" --store demo.store
says '[0-9]+ fdatasync .*/notes\.db-journal \('
says '[0-9]+ fdatasync .*/notes\.db \('

claim "time in calls is a metric of its own, in milliseconds"
line_repo line --commits 3 --culprit 2 --levels 5,40
bisect 0 line --measure "$no_leaks"' callmany 0 $(cat level) $BISECTD_OUT/x' --metric syscalls:of=time
is_culprit "$answer"
json '.metric.unit == "ms"'

claim "calls are counted within the walls of bubblewrap too"
bisect 0 line --sandbox bubblewrap --metric 'syscalls:calls=fsync,path=/job/out/x' --store walls \
    --measure 'for i in $(seq $(cat level)); do dd if=/dev/null of=$BISECTD_OUT/x conv=fsync status=none; done'
is_culprit "$answer"
json '.culprits[0].delta == 35'
