#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: plot.sh DIR >FILE.svg

Runs against the size of the change, ours beside peers and the floor, from DIR/cells.tsv of
tables.sh (tables "peers" and "normal"): 256 commits, normal noise, .95, builds free. A hollow mark
is a search that was right less than nine times in ten.'

[ $# -eq 1 ] || { echo "$usage" >&2; exit 2; }

awk -F '\t' '
function x_of(effect) { return left + width * log(effect) / log(10) }
function y_of(runs) { return top + height * (1 - (log(runs) - log(low)) / (log(high) - log(low))) }
function flag(name,    at, rest) {
    at = index($1, "--" name " ")
    if (!at) return ""
    rest = substr($1, at + length(name) + 3)
    sub(/ .*/, "", rest)
    return rest
}
function text(x, y, anchor, size, colour, what) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"%s\">%s</text>\n", x, y, anchor, size, colour, what
}
BEGIN {
    left = 60; top = 40; width = 440; height = 330; low = 5; high = 500
    n_names = split("pinpoint bayesect git bisectd known floor", names, " ")
    split("Pinpoint|git-bayesect|git bisect, mean of 9|bisectd, told nothing|told both distributions|floor of any search", labels, "|")
    split("#b35900 #7a3e9d #777777 #0a5fb4 #2a8a3e #000000", colours, " ")
}
/--(commits|noise|stored|build-cost|workers|broken|culprits|verify)/ || flag("confidence") != ".95" { next }
{
    effect = flag("effect"); name = flag("policy"); repeats = flag("repeats")
    if (name == "") name = "bisectd"
    if (effect !~ /^[0-9.]+$/ || effect + 0 < 1 || (name == "git" && repeats != 9)) next
    split($2, number, " ")
    runs[name, effect] = number[4]; exact[name, effect] = number[1]
    if (number[8] != "-") { runs["floor", effect] = number[8]; exact["floor", effect] = 1 }
    effects[effect] = 1
}
END {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 420\" font-family=\"sans-serif\">"
    print "<rect width=\"720\" height=\"420\" fill=\"white\"/>"
    text(left, 22, "start", 15, "black", "Runs to find one commit in 256, at .95")
    text(left + width / 2, 408, "middle", 12, "black", "size of the change, in standard deviations of one run")
    n = split("5 10 20 50 100 200 500", ticks, " ")
    for (i = 1; i <= n; i++) {
        printf "<path d=\"M%d %.1fh%d\" stroke=\"#dddddd\"/>\n", left, y_of(ticks[i]), width
        text(left - 8, y_of(ticks[i]) + 4, "end", 12, "black", ticks[i])
    }
    for (effect in effects) text(x_of(effect), top + height + 18, "middle", 12, "black", effect)
    for (i = 1; i <= n_names; i++) {
        path = ""; mark = ""
        for (e = 1; e <= 10; e += .5) {
            key = names[i] SUBSEP e
            if (!(key in runs)) continue
            path = path sprintf("%s%.1f %.1f", path == "" ? "M" : "L", x_of(e), y_of(runs[key]))
            if (names[i] != "floor")
                mark = mark sprintf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" stroke=\"%s\"><title>%s: %.1f runs, right %.1f %%</title></circle>\n",
                    x_of(e), y_of(runs[key]), exact[key] >= .9 ? colours[i] : "white", colours[i], labels[i], runs[key], 100 * exact[key])
        }
        if (path == "") continue
        printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s/>\n%s", path, colours[i], names[i] == "bisectd" ? 3 : 1.5, names[i] == "floor" ? " stroke-dasharray=\"5 4\"" : "", mark
        y = top + 20 + 20 * i
        printf "<path d=\"M%d %dh24\" stroke=\"%s\" stroke-width=\"%s\"%s/>\n", left + width + 15, y - 4, colours[i], names[i] == "bisectd" ? 3 : 1.5, names[i] == "floor" ? " stroke-dasharray=\"5 4\"" : ""
        text(left + width + 45, y, "start", 12, "black", labels[i])
    }
    text(left + width + 15, y + 24, "start", 11, "#555555", "hollow: right under 90 %")
    print "</svg>"
}' "$1/cells.tsv"
