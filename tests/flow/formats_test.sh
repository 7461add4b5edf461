#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every result format as a metric: a command prints an example, and its culprit is found by the number
# in it. What is malformed is "cannot measure" with the reason in the log, and never a number.
. "$(dirname "$0")/lib.sh"

repo=$work/repo
good=$work/good
bad=$work/bad
mkdir "$good" "$bad"

# LEVEL is 100 before the culprit and 130 from it on.
cat >"$good/perfherder" <<'END'
10:26:49     INFO -  some line
10:26:49     INFO -  INFO : PERFHERDER_DATA: {"framework":{"name":"talos"},"application":{"name":"firefox","version":"141.0a1"},"os":{"name":"linux","platform_version":"24.04"},"suites":[{"name":"ts_paint","extraOptions":["e10s","fission"],"tags":["startup"],"unit":"ms","lowerIsBetter":true,"shouldAlert":true,"alertThreshold":2.0,"alertChangeType":"percentage","alertSeverity":"normal","minBackWindow":12,"maxBackWindow":24,"foreWindow":12,"subtests":[{"name":"ts_paint","value":LEVEL.5,"unit":"ms","lowerIsBetter":true,"shouldAlert":true,"alertThreshold":2.0,"replicates":[455.0,410.0,412.0,411.0,414.0]}]}]}
10:26:50     INFO -  INFO : PERFHERDER_DATA: {"framework":{"name":"talos"},"suites":[{"name":"other","value":7,"subtests":[]}]}
END
cat >"$good/artifact" <<'END'
{"logurl":"x","performance_data":[{"framework":{"name":"talos"},"suites":[{"name":"tp5","value":LEVEL,"subtests":[{"name":"a","value":1},{"name":"b","value":2}]}]}]}
END
cat >"$good/talos" <<'END'
NOISE: __start_report455|LEVEL|LEVEL|LEVEL|414__end_report
__startTimestamp1385000000123__endTimestamp
END
cat >"$good/pages" <<'END'
__start_tp_report
|i|pagename|runs|
|0;example.org/index.html;900;90;80;70;60;LEVEL;LEVEL
|1;example.net/;9;9;9
__end_tp_report
END
cat >"$good/talos2013" <<'END'
INFO : TALOSDATA: [{"test_machine":{"platform":"x86_64","osversion":"12.04","os":"linux","name":"t"},"testrun":{"date":1385000000,"suite":"ts_paint","options":{}},"results":{"ts_paint":[455,LEVEL,LEVEL]},"talos_aux":{}}]
RETURN: <a href='http://graphs.mozilla.org/graph.html#tests=[[1,2,3]]'>tp5o_paint: 327.74</a>
END
cat >"$good/fileio" <<'END'
{"slug":"s","payload":"{\"ver\":1,\"fileIOReports\":{\"{profile}/places.sqlite\":[12.5,1,20,30,LEVEL,2],\"{xre}/omni.ja\":[1,0,9,0,0,0]}}"}
END
cat >"$good/hyperfine" <<'END'
{"results":[{"command":"sleep 0.1","mean":1,"stddev":null,"median":1,"user":0.001,"system":0.001,"min":1,"max":1,"times":[0.LEVEL,0.LEVEL,0.9],"exit_codes":[0,0,0]}]}
END
cat >"$good/hyperfine.csv" <<'END'
command,mean,stddev,median,user,system,min,max,parameter_size
tool 1,9,0,0,0,0,0,0,1
"tool 2, twice",LEVEL,0,0,0,0,0,0,2
END
cat >"$good/gbench" <<'END'
{"context":{"date":"2026-08-19T10:00:00+00:00","num_cpus":8,"library_build_type":"release","json_schema_version":1},
 "benchmarks":[{"name":"BM_Commit/64","run_name":"BM_Commit/64","run_type":"iteration","repetitions":3,"repetition_index":0,"threads":1,"iterations":1000,"real_time":LEVEL,"cpu_time":40.1,"time_unit":"us"},
 {"name":"BM_Nan","run_name":"BM_Nan","run_type":"iteration","iterations":1,"real_time":NaN,"cpu_time":-Infinity,"time_unit":"us"},
 {"name":"BM_Commit/64_mean","run_name":"BM_Commit/64","run_type":"aggregate","repetitions":3,"threads":1,"aggregate_name":"mean","aggregate_unit":"time","iterations":3,"real_time":413.0,"cpu_time":40.2,"time_unit":"us"}]}
END
cat >"$good/pytest" <<'END'
{"machine_info":{"node":"x"},"commit_info":{"id":"abc"},"benchmarks":[{"group":null,"name":"test_a","fullname":"t.py::test_a","stats":{"min":0.1,"max":9,"mean":2,"stddev":0,"rounds":1,"median":0.LEVEL,"ops":5.0}}],"datetime":"2026-08-19T10:00:00","version":"4.0.0"}
END
cat >"$good/perfstat" <<'END'
# started on Wed Aug 19 10:00:00 2026

LEVEL.41,msec,task-clock,5.14%,406005,100.00,0.448,CPUs utilized
<not supported>,,cycles,0,100.00,,
END
cat >"$good/perfstat.json" <<'END'
{"counter-value" : "LEVEL.451022", "unit" : "msec", "event" : "task-clock", "event-runtime" : 451022, "pcnt-running" : 100.00, "metric-value" : "0.507", "metric-unit" : "CPUs utilized"}
{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", "event-runtime" : 0, "pcnt-running" : 100.00}
END
cat >"$good/criterion" <<'END'
group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count
db,commit,10,,,LEVEL0.0,ns,10
db,commit,10,,,LEVEL00.0,ns,100
END
cat >"$good/messages" <<'END'
{"reason":"benchmark-complete","id":"commit","report_directory":"d","iteration_count":[10,20],"measured_values":[LEVEL0,9999],"unit":"ns","throughput":[],"typical":{"estimate":LEVEL,"lower_bound":1,"upper_bound":2,"unit":"ns"},"change":null}
{"reason":"group-complete","group_name":"g","benchmarks":["commit"],"report_directory":"d"}
END
cat >"$good/gobench" <<'END'
goos: linux
pkg: example.org/db
BenchmarkCommit-8    2500    LEVEL ns/op    128 B/op    3 allocs/op
BenchmarkOther-8    2500    5 ns/op
END
cat >"$good/jmh" <<'END'
[{"jmhVersion":"1.37","benchmark":"org.example.B.commit","mode":"thrpt","threads":1,"forks":1,"params":{"size":"10"},"primaryMetric":{"score":1,"scoreError":"NaN","scoreUnit":"ops/ms","rawData":[[LEVEL,LEVEL]]},"secondaryMetrics":{}}]
END
cat >"$good/lnt" <<'END'
{"format_version":"2","machine":{"name":"m"},"run":{"start_time":"2026-08-19T10:00:00","llvm_project_revision":"abc"},"tests":[{"name":"a.b","execution_time":[LEVEL,LEVEL],"compile_time":1.5,"hash":"d41d8"}]}
END
cat >"$good/lnt.txt" <<'END'
nts.a.b.execution_time LEVEL
nts.a.b.compile_time 1
END
cat >"$good/bmf" <<'END'
{"commit":{"latency":{"value":LEVEL,"lower_value":1,"upper_value":900}}}
END
cat >"$good/otava" <<'END'
time,commit,branch,p50,throughput
2026-08-19T10:00:00Z,1234567,main,LEVEL,100
END
cat >"$good/plain" <<'END'
LEVEL
LEVEL
999
END

# format, with what is chosen of it | file | the step that is found
readings() {
    cat <<'END'
perfherder:suite=ts_paint,test=ts_paint|perfherder|30
perfherder:suite=tp5|artifact|30
talos|talos|30
talos:test=example.org|pages|30
talos:suite=ts_paint|talos2013|30
fileio:test=*places.sqlite,field=fsyncs,unit=calls|fileio|30
hyperfine:unit=ms|hyperfine|30
hyperfine:options=size=2|hyperfine.csv|30
gbench:test=BM_Commit/64,unit=us|gbench|30
pytest:unit=ms|pytest|30
perfstat:test=task-clock|perfstat|30
perfstat:test=task-clock|perfstat.json|30
criterion:suite=db|criterion|30
criterion:field=typical|messages|30
gobench:test=BenchmarkCommit-8|gobench|30
jmh:worse=either|jmh|30
lnt|lnt|30
lnt:test=nts.a.b|lnt.txt|30
bmf|bmf|30
otava:test=p50|otava|30
plain|plain|30
auto:suite=ts_paint,unit=us|perfherder|30000
auto:test=BenchmarkCommit-8|gobench|30
END
}

# What is malformed, as printf writes it, and the reason that has to be told.
malformed() {
    cat <<'END'
perfherder|PERFHERDER_DATA: {"framework":{"name":"f"},"suites":[{"name":"a","value":NaN,"subtests":[]}]}|line 1: suite 'a': value: expected a number .* got "NaN"
perfherder|PERFHERDER_DATA: {}|line 1: the object is empty
perfherder:test=b|PERFHERDER_DATA: {"framework":{"name":"f"},"suites":[{"name":"s","subtests":[{"name":"a","value":1}]}]}|no test 'b'; there are: a
talos|__start_report455|__start_report without __end_report
talos|__FAILbrowser hung__FAIL|the test failed: browser hung
fileio|{"fileIOReports":{"a":[null,0,0,0,0,0]}}|a: time: time is null
hyperfine|{"results":[{"command":"a","times":[1,2],"exit_codes":[0,3]}]}|run 2 exited with status 3
gbench|{"context":{},"benchmarks":[{"name":"a","run_type":"iteration","real_time":NaN,"cpu_time":1}]}|real_time is NaN
gbench|{"context":{},"benchmarks":[{"name":"a","run_type":"iteration","error_occurred":true,"error_message":"no disk"}]}|it failed: no disk
pytest|{"machine_info":{},"benchmarks":[]}|did they all fail
perfstat:test=cycles|<not supported>,,cycles,0,100.00,,|the counter is <not supported>
perfstat|0,41,msec,task-clock,406005,100,00,,|is not value,unit,event. *Use -j
criterion|{"iters":[1,1],"times":[1,Infinity]}|value 2 is not a number
gobench|BenchmarkX 1 NaN ns/op|ns/op is nan
jmh|[{"benchmark":"a","mode":"avgt","primaryMetric":{"score":"NaN","scoreUnit":"ms/op"}}]|score is NaN
lnt|a.execution_time nan|execution_time is nan
bmf|{"a":{"x":{"value":null}}}|value is null
otava|time,ms\n1,nan|ms: the value is nan
plain|12\nfast|line 2 is "fast"
auto|nothing of the kind|no format that is known by its looks
END
}

git init -q "$repo"
mkdir "$repo/out" "$repo/none"
for file in "$good"/*; do
    sed 's/LEVEL/130/g' "$file" >"$bad/${file##*/}"
    sed -i 's/LEVEL/100/g' "$file"
done
n=0
while IFS='|' read -r _ text _; do
    printf "${text//%/%%}\n" >"$repo/none/$((++n))"
done < <(malformed)
commit() { # MESSAGE
    echo "$1" >"$repo/note"
    git -C "$repo" add -A
    git -C "$repo" commit -qm "$1"
}
cp "$good"/* "$repo/out"
commit first
git -C "$repo" tag good
first=$(git -C "$repo" rev-parse good)
commit second
cp "$bad"/* "$repo/out"
commit third
answer=$(git -C "$repo" rev-parse HEAD)
git -C "$repo" tag bad

keys() { # KIND[:KEYS]
    case $1 in *:*) echo "$1,isolation=none" ;; *) echo "$1:isolation=none" ;; esac
}

while IFS='|' read -r metric file delta; do
    claim "$metric reads $file"
    bisect 0 "$repo" --metric "$(keys "$metric")" --measure "cat out/$file" --store "$work/store"
    is_culprit "$answer"
    json '(.culprits[0].delta - $delta | fabs) < 0.001' --argjson delta "$delta"
done < <(readings)

n=0
while IFS='|' read -r metric text reason; do
    claim "${metric%%:*} makes no number of $text"
    bisect 1 "$repo" --metric "$(keys "$metric")" --measure "cat none/$((++n))" --store "$work/store"
    json '.verdict == "failed" and .culprits == [] and (.message | test("cannot measure"))'
    id=$(field .id)
    run 0 bisectctl log "$id" "$first" --store "$work/store"
    says "-> cannot: cannot measure: .*$reason"
done < <(malformed)

claim "no sample of what is malformed is a value"
run 0 bisectctl history --store "$work/store" --json
json '[.items[] | select(.status != "ok") | .value] | length > 0 and all(. == null)'

claim "the unit that the format states, and what it passes over, is in the log"
bisect 0 "$repo" --metric perfherder:suite=ts_paint,isolation=none --measure 'cat out/perfherder; echo "PERFHERDER_DATA: {}"' \
    --store "$work/noted"
id=$(field .id)
run 0 bisectctl log "$id" "$first" --store "$work/noted"
says '-> 100.5 in ms; passed over: line 4: the object is empty'
