/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "commits/range.h"
#include "unit/git_fixture.h"
#include "unit/run.h"

static enum err_code load(const char *repository, const char *good, const char *bad,
                          const struct strings *paths, struct range **out, struct err *e)
{
    struct mirror_place place = {"data", "m", repository};
    const struct range_query q = {.good = good, .bad = bad, .paths = paths};
    AUTO(mirror_free) struct mirror *m = NULL;
    enum err_code rc = mirror_open(&place, NULL, &m, e);

    return rc ? rc : range_load(m, &q, out, e);
}

static struct range *must_load(const char *repository, const char *good, const char *bad,
                               const struct strings *paths)
{
    struct range *r = NULL;
    struct err e = {0};

    ck_assert_msg(!load(repository, good, bad, paths, &r, &e), "%s..%s: %s", good, bad, e.text);
    return r;
}

static const struct commit *find(const struct range *r, const char *hex)
{
    struct revision id = {""};

    ck_assert_msg(!revision_parse(hex, &id, NULL), "%s", hex);
    uint32_t i = range_find(r, &id);
    return i == UINT32_MAX ? NULL : &r->commits[i];
}

/* What is refused, and with which words */

static const struct {
    const char *make, *repository, *good, *bad;
    enum err_code code;
    const char *text, *hint; /* parts */
} refused[] = {
    {"", "r", "mian", "main", ERR_NOT_FOUND, "good: no revision 'mian' in r",
     "did you mean 'main'?"},
    {"", "r", "main~2", "nope", ERR_NOT_FOUND, "bad: no revision 'nope' in r", ""},
    {"", "r", "main", "main", ERR_INVALID, "same commit", "bisectctl compare"},
    {"git -C r tag -a -m x t main", "r", "main", "t", ERR_INVALID, "same commit", ""},
    {"", "r", "main", "main~2", ERR_INVALID, "the ends look swapped: bad (main~2) is an ancestor",
     "--good 'main~2' --bad main"},
    {"", "r", "main", "main~2", ERR_INVALID, "swapped", "look for the commit that fixed"},
    {"cd r; git checkout -q --orphan island; commit apart; git checkout -q main", "r", "island",
     "main", ERR_INVALID, "unrelated histories", "grew out of"},
    {"git clone -q --depth 3 \"file://$TOP/r\" s", "s", "HEAD~1", "HEAD", ERR_OK, "", ""},
    {"git clone -q --depth 3 \"file://$TOP/r\" s", "s", "HEAD~5", "HEAD", ERR_NOT_FOUND,
     "which is a shallow clone", "git fetch --unshallow"},
    {"git clone -q --depth 3 --no-single-branch \"file://$TOP/r\" s", "s", "origin/side", "main",
     ERR_INVALID, "shallow clone that hides part of the range", "git fetch --unshallow"},
    {"git clone -q --depth 3 --no-single-branch \"file://$TOP/r\" s; git -C s fetch -q --unshallow",
     "s", "origin/side", "main", ERR_OK, "", ""},
    {"git -C r replace --graft main~1 main~3", "r", "main~4", "main", ERR_INVALID, "replace ref",
     "git replace -d"},
    {"git -C r replace --graft main~5", "r", "main~3", "main", ERR_OK, "", ""},
    {"cd r; git rev-parse main~1 >.git/info/grafts", "r", "main~4", "main", ERR_INVALID, "graft",
     "info/grafts"},
    {"cd r; o=$(git rev-parse main~2); rm -f .git/objects/$(echo $o | sed 's,^..,&/,')", "r",
     "side", "main", ERR_INVALID, "is missing from the repository", "git fsck"},
    {"cd r; o=$(git rev-parse main~2); f=.git/objects/$(echo $o | sed 's,^..,&/,'); chmod +w $f;"
     "echo garbage >$f",
     "r", "side", "main", ERR_INVALID, "is missing from the repository or cannot", "git fsck"},
    {"git -C r config uploadpack.allowFilter true;"
     "git clone -q --filter=blob:none --no-checkout \"file://$TOP/r\" p",
     "p", "HEAD~3", "HEAD", ERR_INVALID, "partial clone without file", "git fetch --refetch"},
    {"git -C r config uploadpack.allowFilter true;"
     "git clone -q --filter=blob:none --no-checkout \"file://$TOP/r\" p;"
     "git -C p fetch -q --refetch --no-filter 2>/dev/null",
     "p", "HEAD~3", "HEAD", ERR_OK, "", ""},
};

/** main: 0..9, each writing a file; side: off main~6, two commits. */
static void make_line(void)
{
    sh("git init -q -b main r; cd r\n"
       "for i in 0 1 2 3; do echo $i >file; git add file; commit \"change $i\"; done\n"
       "git checkout -q -b side; commit s1; commit s2; git checkout -q main\n"
       "for i in 4 5 6 7 8 9; do echo $i >file; git add file; commit \"change $i\"; done\n");
}

START_TEST(bad_questions_are_refused_in_words)
{
    AUTO(range_free) struct range *r = NULL;
    struct err e = {0};

    fixture_start();
    make_line();
    sh("%s", refused[_i].make);
    enum err_code rc =
        load(refused[_i].repository, refused[_i].good, refused[_i].bad, NULL, &r, &e);
    ck_assert_msg(rc == refused[_i].code, "row %d: %s: %s", _i, err_name(rc), e.text);
    ck_assert_msg(strstr(e.text, refused[_i].text) != NULL, "row %d: %s", _i, e.text);
    ck_assert_msg(strstr(e.hint, refused[_i].hint) != NULL, "row %d: %s", _i, e.hint);
    ck_assert(rc ? !r : r && r->n_candidates);
    fixture_end();
}
END_TEST

/* What a range holds */

START_TEST(a_line_is_read_in_order_with_its_words)
{
    fixture_start();
    make_line();
    AUTO(range_free) struct range *r = must_load("r", "main~3", "main", NULL);

    ck_assert_uint_eq(r->n, 4);
    ck_assert_uint_eq(r->n_candidates, 3);
    ck_assert_uint_eq(r->good, 0);
    ck_assert_uint_eq(r->bad, 3);
    ck_assert(r->good_is_ancestor && !r->n_merge_bases);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct commit *c = &r->commits[i];
        AUTO(mem_free)
        char *want =
            sh_out("git -C r log -1 --format='%%H %%T %%ct %%an <%%ae> %%s' main~%u", 3 - i);
        AUTO(mem_free)
        char *got = mem_printf("%s %s %lld %s %s", c->id.hex, c->tree.hex, (long long)c->time_s,
                               c->author, c->subject);
        ck_assert_str_eq(got, want);
        ck_assert(c->is_candidate == (i > 0) && c->is_mainline && c->matters);
        ck_assert(i == 0 ? !c->n_parents : c->n_parents == 1 && c->parents[0] == i - 1);
    }
    fixture_end();
}
END_TEST

START_TEST(where_good_is_no_ancestor_the_merge_base_joins)
{
    fixture_start();
    make_line();
    AUTO(range_free) struct range *r = must_load("r", "side", "main", NULL);
    AUTO(mem_free) char *base = sh_out("git -C r merge-base side main");

    ck_assert(!r->good_is_ancestor);
    ck_assert_uint_eq(r->n_merge_bases, 1);
    ck_assert_str_eq(r->commits[r->merge_bases[0]].id.hex, base);
    ck_assert(!r->commits[r->merge_bases[0]].is_candidate && !r->commits[r->good].is_candidate);
    ck_assert_uint_eq(r->n_candidates, 6);
    ck_assert_uint_eq(r->n, 8);
    fixture_end();
}
END_TEST

START_TEST(hostile_messages_are_repaired_and_cut)
{
    fixture_start();
    make_line();
    sh("cd r; printf 'caf\\351 \\033[31mred\\nbody' >m; printf '%%0300d' 7 >long\n"
       "t=1800000000; export GIT_AUTHOR_DATE=\"$t +0000\" GIT_COMMITTER_DATE=\"$t +0000\"\n"
       "git -c i18n.commitEncoding=ISO-8859-1 commit -q --allow-empty --cleanup=verbatim -F m; git "
       "commit -q --allow-empty -F long\n"
       "tree=$(git rev-parse HEAD^{tree}); p=$(git rev-parse HEAD)\n"
       "{ echo tree $tree; echo parent $p; echo 'author <> '; echo 'committer no mail at all'; } "
       "|\n"
       "    git hash-object -w -t commit --literally --stdin >../odd\n"
       "git update-ref refs/heads/odd $(echo last | git commit-tree -p $(cat ../odd) $tree)");
    AUTO(range_free) struct range *r = must_load("r", "main~2", "odd", NULL);

    ck_assert_uint_eq(r->n_candidates, 4);
    ck_assert_str_eq(r->commits[1].subject, "caf\xef\xbf\xbd \xef\xbf\xbd[31mred");
    ck_assert_uint_le(strlen(r->commits[2].subject), 200 + 3);
    ck_assert_str_eq(r->commits[3].subject, "");
    ck_assert_int_eq(r->commits[3].time_s, 0);
    fixture_end();
}
END_TEST

/* clang-format off */
static const char *const malformed[] = {
    "",
    "tree $t",
    "parent $p\\ntree $t\\nauthor A <a> 1 +0\\ncommitter A <a> 1 +0\\n\\nx\\n",
    "tree ${t}0\\nparent $p\\nauthor A <a> 1 +0\\ncommitter A <a> 1 +0\\n\\nx\\n",
    "tree $t\\nparent 123\\nauthor A <a> 1 +0\\ncommitter A <a> 1 +0\\n\\nx\\n",
    "tree $t\\nparent $p\\ncommitter A <a> 1 +0\\n\\nx\\n",
    "tree $t\\nparent $p\\nauthor A <a> 1 +0\\n\\nx\\n",
    "tree $t\\nparent zz${p#??}\\nauthor A <a> 1 +0\\ncommitter A <a> 1 +0\\n\\nx\\n",
    "tree $t\\nparent $p\\nauthor A <a> 1 +0\\ncommitter A <a> 1 +0",
};
/* clang-format on */

START_TEST(malformed_commits_are_refused)
{
    AUTO(range_free) struct range *r = NULL;
    struct err e = {0};

    fixture_start();
    make_line();
    sh("cd r; t=$(git rev-parse HEAD^{tree}); p=$(git rev-parse HEAD)\n"
       "c=$(printf \"%s\" | git hash-object -w -t commit --literally --stdin)\n"
       "git update-ref refs/heads/top $(echo top | git commit-tree -p $p -p $c $t)",
       malformed[_i]);
    enum err_code rc = load("r", "main~2", "top", NULL, &r, &e);
    ck_assert_msg(rc == ERR_INVALID, "row %d: %s: %s", _i, err_name(rc), e.text);
    ck_assert_msg(strstr(e.text, "cannot be read") != NULL, "row %d: %s", _i, e.text);
    fixture_end();
}
END_TEST

/* What matters */

static const struct {
    const char *paths[4];
    const char *script; /* of the commit */
    bool matters;
} touches[] = {
    {{NULL}, "echo x >README", true},
    {{NULL}, ":", false},
    {{NULL}, "git update-index --chmod=+x src/main.c", true},
    {{"src/"}, "echo x >README", false},
    {{"src/"}, "echo x >src/main.c", true},
    {{"src/"}, "echo x >src/deep/er/new.c", true},
    {{"src/"}, "echo x >srcs/other.c", false},
    {{"src/"}, "git rm -q -r src", true},
    {{"src/"}, "git rm -q -r src; echo file >src", true},
    {{"src/", "*.mk"}, "echo x >rules.mk", true},
    {{"src/", "*.mk"}, "echo x >doc/rules.mk", false},
    {{"**/*.c"}, "echo x >src/deep/er/a.c", true},
    {{"**/*.c"}, "echo x >src/deep/er/a.h", false},
    {{"*/*/er/*.c"}, "echo x >src/deep/er/a.c", true},
    {{"s*/"}, "echo x >src/deep/er/a.c", true},
    {{"src/*"}, "echo x >src/deep/er/a.c", true},
    {{"src"}, "echo x >src/main.c", true},
    {{"src"}, "echo x >srcs/other.c", false},
    {{"*.c"}, "echo x >src/main.c", false},
    {{"README"}, "echo x >README", true},
    {{"src/main.c"}, "git update-index --chmod=+x src/main.c", true},
    {{"src/main.c"}, "rm src/main.c; ln -s a src/main.c", true},
    {{"doc/"}, "git rm -q -r doc", true},
};

START_TEST(a_commit_matters_if_it_touches_what_is_built)
{
    AUTO(strings_fini) struct strings paths = {0};

    fixture_start();
    sh("git init -q -b main r; cd r; mkdir -p src/deep/er srcs doc\n"
       "for f in README src/main.c src/deep/er/a.c srcs/other.c doc/a.txt; do echo 1 >$f; done\n"
       "git add .; commit one; { %s; }; [ -f .git/index ] && git diff --cached --quiet && git add "
       "-A\n"
       "commit two",
       touches[_i].script);
    for (size_t i = 0; i < LEN(touches[_i].paths) && touches[_i].paths[i]; i++)
        strings_add(&paths, touches[_i].paths[i]);
    AUTO(range_free) struct range *r = must_load("r", "HEAD~1", "HEAD", &paths);

    ck_assert_msg(r->commits[r->bad].matters == touches[_i].matters, "row %d: %s", _i,
                  touches[_i].script);
    fixture_end();
}
END_TEST

/* clang-format off */
static const struct {
    const char *script;
    bool is_prose;
} proses[] = {
    {"echo x >README", true},
    {"echo x >doc/a.txt", true},
    {"git rm -q -r doc", true},
    {"mkdir docs && echo x >docs/new.html && echo x >src/deep/er/NOTES.md", true},
    {"echo x >src/deep/README.txt; echo x >LICENSE", true},
    {"echo x >CMakeLists.txt", false},
    {"echo x >notes.txt", false},
    {"echo x >src/main.c", false},
    {"echo x >README; echo x >src/main.c", false},
    {"echo x >doc/a.txt; git rm -q -r src", false},
    {"mkdir -p src/doc && echo x >src/doc/viewer.c", false},
    {"echo x >docs.c", false},
    {":", false},
};
/* clang-format on */

START_TEST(prose_is_known_by_its_names)
{
    fixture_start();
    sh("git init -q -b main r; cd r; mkdir -p src/deep/er doc\n"
       "for f in README src/main.c src/deep/er/a.c doc/a.txt; do echo 1 >$f; done\n"
       "git add .; commit one; { %s; }; git add -A; commit two",
       proses[_i].script);
    AUTO(range_free) struct range *r = must_load("r", "HEAD~1", "HEAD", NULL);

    ck_assert_msg(r->commits[r->bad].is_prose == proses[_i].is_prose, "%s", proses[_i].script);
    fixture_end();
}
END_TEST

START_TEST(a_merge_matters_if_it_differs_from_every_parent)
{
    fixture_start();
    sh("git init -q -b main r; cd r; echo 1 >a; echo 1 >b; git add .; commit one\n"
       "git checkout -q -b side; echo 2 >a; git add .; commit two; git checkout -q main\n"
       "merge side; git tag plain; echo 3 >b; git add .; commit three\n"
       "git checkout -q side; echo 4 >a; git add .; commit four; git checkout -q main; merge side\n"
       "git tag real");
    AUTO(range_free) struct range *r = must_load("r", "main~3", "main", NULL);
    AUTO(mem_free) char *plain = sh_out("git -C r rev-parse plain");
    AUTO(mem_free) char *real = sh_out("git -C r rev-parse real");

    ck_assert(find(r, plain) && !find(r, plain)->matters);
    ck_assert(find(r, real) && find(r, real)->matters);
    fixture_end();
}
END_TEST

/* Against git, on random graphs with dates that lie */

enum { N_RANDOM = 60 };

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = mix64(*state + 1);
    return *state % below;
}

/** A fast-import stream: up to three parents among the last few commits, now and then a new root.
 */
static void make_random(uint64_t seed)
{
    AUTO(buf_fini) struct buf stream = {0};
    uint64_t state = seed;

    for (unsigned i = 1; i <= N_RANDOM; i++) {
        unsigned n = draw(&state, 3) == 0 ? 2 + (unsigned)draw(&state, 2) : 1, used[3] = {0};
        int64_t when = 1700000000 + 600 * i + (int64_t)draw(&state, 40000) - 20000;
        buf_printf(&stream,
                   "commit refs/heads/c%u\nmark :%u\ncommitter C <c@c> %lld +0000\ndata 1\nx\n", i,
                   i, (long long)when);
        for (unsigned k = 0; k < n && i > 1 && draw(&state, 40) != 0; k++) {
            used[k] = i - 1 - (unsigned)draw(&state, i - 1 < 8 ? i - 1 : 8);
            if ((k > 0 && used[0] == used[k]) || (k > 1 && used[1] == used[k]))
                break;
            buf_printf(&stream, "%s :%u\n", k ? "merge" : "from", used[k]);
        }
        buf_printf(&stream, "M 100644 inline f%u\ndata 2\n%02u\n", (unsigned)draw(&state, 5),
                   (unsigned)draw(&state, 3));
    }
    FILE *f = fopen("stream", "w");
    ck_assert(f && fwrite(stream.data, 1, stream.len, f) == stream.len && !fclose(f));
    sh("git init -q --bare r; git -C r fast-import --quiet <stream");
}

static char *sorted(struct buf *lines)
{
    FILE *f = fopen("lines", "w");

    ck_assert(f && fwrite(buf_str(lines), 1, lines->len, f) == lines->len && !fclose(f));
    buf_clear(lines);
    return sh_out("sort lines");
}

static void check_order(const struct range *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->commits[i].n_parents; k++)
            ck_assert_uint_lt(r->commits[i].parents[k], i);
    ck_assert_uint_eq(r->bad, r->n - 1);
}

/** Compares every set with what git says. */
static void check_range(const struct range *r, const char *good, const char *bad)
{
    AUTO(buf_fini) struct buf lines = {0};

    for (uint32_t i = 0; i < r->n; i++)
        if (r->commits[i].is_candidate)
            buf_printf(&lines, "%s\n", r->commits[i].id.hex);
    AUTO(mem_free) char *candidates = sorted(&lines);
    AUTO(mem_free) char *want = sh_out("git -C r rev-list %s..%s | sort", good, bad);
    ck_assert_msg(!strcmp(candidates, want), "%s..%s", good, bad);

    for (uint32_t i = 0; i < r->n; i++)
        if (r->commits[i].is_candidate && r->commits[i].is_mainline)
            buf_printf(&lines, "%s\n", r->commits[i].id.hex);
    AUTO(mem_free) char *mainline = sorted(&lines);
    AUTO(mem_free)
    char *chain =
        sh_out("cd r; git rev-list --first-parent %s | sort >../chain; git rev-list %s..%s | sort |"
               " comm -12 - ../chain",
               bad, good, bad);
    ck_assert_msg(!strcmp(mainline, chain), "first parents of %s", bad);

    for (uint32_t i = 0; i < r->n_merge_bases; i++)
        buf_printf(&lines, "%s\n", r->commits[r->merge_bases[i]].id.hex);
    AUTO(mem_free) char *bases = sorted(&lines);
    AUTO(mem_free) char *merge_bases = sh_out("git -C r merge-base --all %s %s | sort", good, bad);
    ck_assert_msg(!strcmp(r->good_is_ancestor ? merge_bases : bases, merge_bases), "bases of %s %s",
                  good, bad);

    for (uint32_t i = 0; i < r->n; i++)
        if (r->commits[i].is_candidate && r->commits[i].matters)
            buf_printf(&lines, "%s\n", r->commits[i].id.hex);
    AUTO(mem_free) char *matter = sorted(&lines);
    AUTO(mem_free)
    char *differ = sh_out(
        "cd r; for c in $(git rev-list %s..%s); do y=yes; for p in $(git rev-parse \"$c^@\"); do\n"
        "    [ $(git rev-parse $p^{tree}) = $(git rev-parse $c^{tree}) ] && y=; done\n"
        "    [ -z \"$y\" ] || echo $c; done | sort",
        good, bad);
    ck_assert_msg(!strcmp(matter, differ), "what matters in %s..%s", good, bad);
    check_order(r);
}

START_TEST(random_graphs_give_what_git_gives)
{
    uint64_t state = (uint64_t)_i * 7919;

    fixture_start();
    make_random((uint64_t)_i);
    for (int k = 0; k < 4; k++) {
        unsigned x = 1 + (unsigned)draw(&state, N_RANDOM), y = 1 + (unsigned)draw(&state, N_RANDOM);
        AUTO(mem_free) char *good = mem_printf("c%u", x), *bad = mem_printf("c%u", y);
        AUTO(range_free) struct range *r = NULL;
        struct err e = {0};
        AUTO(mem_free)
        char *swapped =
            sh_out("git -C r merge-base --is-ancestor %s %s && echo yes || echo no", bad, good);
        AUTO(mem_free) char *related = sh_out("git -C r merge-base %s %s || true", good, bad);
        enum err_code rc = load("r", good, bad, NULL, &r, &e);

        ck_assert_msg((rc == ERR_OK) == (!strcmp(swapped, "no") && *related), "%s..%s: %s", good,
                      bad, e.text);
        if (rc)
            ck_assert_msg(strstr(e.text, x == y                    ? "same commit"
                                         : !strcmp(swapped, "yes") ? "swapped"
                                                                   : "unrelated"),
                          "%s", e.text);
        else
            check_range(r, good, bad);
    }
    fixture_end();
}
END_TEST

START_TEST(an_octopus_of_seventy_parents_is_read_whole)
{
    fixture_start();
    sh("git init -q -b main r; cd r; commit root; root=$(git rev-parse HEAD); args=\n"
       "for i in $(seq 70); do\n"
       "    c=$(echo $i | git commit-tree -p $root HEAD^{tree}); args=\"$args -p $c\"; done\n"
       "git update-ref refs/heads/main $(echo octopus | git commit-tree $args HEAD^{tree})");
    AUTO(range_free) struct range *r = must_load("r", ":/root", "main", NULL);

    ck_assert_uint_eq(r->n_candidates, 71);
    ck_assert_uint_eq(r->commits[r->bad].n_parents, 70);
    fixture_end();
}
END_TEST

/* A pair: any two commits, as parent and child. */

static const struct {
    const char *name, *make, *repository, *base, *head;
    enum err_code code;
    const char *text;
} pairs[] = {
    {"ancestor and descendant", "", "r", "main~3", "main", ERR_OK, ""},
    {"parent and child", "", "r", "main~1", "main", ERR_OK, ""},
    {"the other way round", "", "r", "main", "main~1", ERR_OK, ""},
    {"two branches", "", "r", "side", "main", ERR_OK, ""},
    {"without a common ancestor",
     "cd r; git checkout -q --orphan island; commit apart; git checkout -q main", "r", "island",
     "main", ERR_OK, ""},
    {"in a shallow clone", "git clone -q --depth 2 \"file://$TOP/r\" s", "s", "HEAD~1", "HEAD",
     ERR_OK, ""},
    {"with itself", "", "r", "main", "main", ERR_INVALID, "are the same commit"},
    {"an unknown base", "", "r", "nope", "main", ERR_NOT_FOUND, "base: no revision"},
    {"an unknown head", "", "r", "main", "nope", ERR_NOT_FOUND, "head: no revision"},
    {"in a partial clone",
     "git -C r config uploadpack.allowFilter true;"
     "git clone -q --filter=blob:none --no-checkout \"file://$TOP/r\" p",
     "p", "HEAD~3", "HEAD", ERR_INVALID, "partial clone without file"},
};

START_TEST(a_pair_is_two_commits_whatever_lies_between)
{
    AUTO(mirror_free) struct mirror *m = NULL;
    AUTO(range_free) struct range *r = NULL;
    struct mirror_place place = {"data", "m", pairs[_i].repository};
    const struct range_query q = {.good = pairs[_i].base, .bad = pairs[_i].head, .is_pair = true};
    struct err e = {0};

    fixture_start();
    make_line();
    sh("%s", pairs[_i].make);
    ck_assert_msg(!mirror_open(&place, NULL, &m, &e), "%s", e.text);
    enum err_code rc = range_load(m, &q, &r, &e);
    ck_assert_msg(rc == pairs[_i].code, "%s: %s", pairs[_i].name, e.text);
    ck_assert_msg(strstr(e.text, pairs[_i].text) != NULL, "%s: %s", pairs[_i].name, e.text);
    if (!rc) {
        AUTO(mem_free)
        char *want = sh_out("git -C %s log --no-walk=unsorted --format='%%H %%an <%%ae> %%s' %s %s",
                            pairs[_i].repository, pairs[_i].base, pairs[_i].head);
        AUTO(mem_free)
        char *got = mem_printf("%s %s %s\n%s %s %s", r->commits[0].id.hex, r->commits[0].author,
                               r->commits[0].subject, r->commits[1].id.hex, r->commits[1].author,
                               r->commits[1].subject);
        ck_assert_str_eq(got, want);
        ck_assert(r->n == 2 && r->n_candidates == 1 && r->good == 0 && r->bad == 1);
        ck_assert(!r->commits[0].is_candidate && r->commits[1].is_candidate);
        ck_assert(!r->commits[0].n_parents && r->commits[1].n_parents == 1);
        AUTO(json_free) json *v = range_to_json(r);
        AUTO(range_free) struct range *again = NULL;
        ck_assert_msg(!range_from_json(v, &again, &e), "%s", e.text);
    }
    fixture_end();
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {bad_questions_are_refused_in_words, LEN(refused)},
        {a_line_is_read_in_order_with_its_words, 1},
        {where_good_is_no_ancestor_the_merge_base_joins, 1},
        {hostile_messages_are_repaired_and_cut, 1},
        {malformed_commits_are_refused, LEN(malformed)},
        {a_commit_matters_if_it_touches_what_is_built, LEN(touches)},
        {prose_is_known_by_its_names, LEN(proses)},
        {a_merge_matters_if_it_differs_from_every_parent, 1},
        {random_graphs_give_what_git_gives, 8},
        {a_pair_is_two_commits_whatever_lies_between, LEN(pairs)},
        {an_octopus_of_seventy_parents_is_read_whole, 1},
    };
    return unit_run("range", tests, LEN(tests));
}
