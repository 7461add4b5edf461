/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

#include "base/mem.h"
#include "store/db.h"

/* Each text is final once released: a change of the schema is a new row. */
static const char *const migrations[] = {
    /* 1 */
    "CREATE TABLE bisections ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL UNIQUE,"
    "  state TEXT NOT NULL,"
    "  request_key TEXT NOT NULL, build_key TEXT NOT NULL, measure_key TEXT NOT NULL,"
    "  project TEXT NOT NULL, metric TEXT NOT NULL, platform TEXT NOT NULL,"
    "  request TEXT NOT NULL," /* JSON */
    "  created_ns INTEGER NOT NULL, finished_ns INTEGER,"
    "  used_ns INTEGER NOT NULL DEFAULT 0,"
    "  message TEXT"
    ") STRICT;"
    "CREATE UNIQUE INDEX bisections_open ON bisections(request_key)"
    "  WHERE state NOT IN ('done', 'canceled');"
    "CREATE INDEX bisections_state ON bisections(state);"

    "CREATE TABLE ranges ("
    "  bisection TEXT PRIMARY KEY REFERENCES bisections(id),"
    "  bytes INTEGER NOT NULL," /* plain */
    "  zstd BLOB NOT NULL"
    ") STRICT;"

    /* Evidence. hash: see chain.h. */
    "CREATE TABLE chains ("
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  name TEXT NOT NULL,"
    "  n INTEGER NOT NULL,"
    "  head TEXT NOT NULL,"
    "  PRIMARY KEY (bisection, name)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE events ("
    "  row INTEGER PRIMARY KEY,"
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  seq INTEGER NOT NULL,"
    "  utc_ns INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  payload TEXT,"
    "  hash TEXT NOT NULL,"
    "  UNIQUE (bisection, seq)"
    ") STRICT;"

    "CREATE TABLE tasks ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL UNIQUE,"
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  ordinal INTEGER NOT NULL,"
    "  after_seq INTEGER NOT NULL,"
    "  state TEXT NOT NULL,"
    "  tries INTEGER NOT NULL DEFAULT 0,"
    "  deaths INTEGER NOT NULL DEFAULT 0,"
    "  failed_by TEXT," /* JSON list of workers */
    "  spec TEXT NOT NULL,"
    "  is_verification INTEGER NOT NULL,"
    "  platform TEXT NOT NULL,"
    "  tags TEXT," /* JSON list */
    "  message TEXT,"
    "  created_ns INTEGER NOT NULL,"
    "  queued_ns INTEGER NOT NULL," /* first, or when it came back */
    "  ended_ns INTEGER,"
    "  UNIQUE (bisection, ordinal)"
    ") STRICT;"
    "CREATE INDEX tasks_state ON tasks(state, platform, bisection);"

    "CREATE TABLE leases ("
    "  fence INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL UNIQUE,"
    "  task TEXT NOT NULL REFERENCES tasks(id),"
    "  worker TEXT NOT NULL, host TEXT NOT NULL, engine TEXT NOT NULL,"
    "  state TEXT NOT NULL,"
    "  deadline_ns INTEGER NOT NULL," /* CLOCK_MONOTONIC of the life that wrote it */
    "  activity TEXT,"
    "  taken_ns INTEGER NOT NULL, ended_ns INTEGER,"
    "  accepted INTEGER," /* samples, once a result or a fault was accepted */
    "  outcome TEXT,"     /* the task's state after that */
    "  reason TEXT"
    ") STRICT;"
    "CREATE INDEX leases_task ON leases(task);"
    "CREATE INDEX leases_open ON leases(deadline_ns) WHERE state = 'open';"

    "CREATE TABLE results ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  task TEXT NOT NULL UNIQUE REFERENCES tasks(id),"
    "  fence INTEGER NOT NULL,"
    "  host TEXT, worker TEXT, platform TEXT, kernel TEXT, cpu TEXT,"
    "  n_cpus INTEGER NOT NULL, load REAL, sandbox TEXT, isolation TEXT,"
    "  stored_ns INTEGER NOT NULL,"
    "  hash TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX results_bisection ON results(bisection);"

    "CREATE TABLE builds ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  task TEXT NOT NULL REFERENCES tasks(id),"
    "  revision TEXT NOT NULL,"
    "  build_key TEXT NOT NULL,"
    "  platform TEXT NOT NULL,"
    "  fresh INTEGER NOT NULL,"
    "  status TEXT NOT NULL,"
    "  reason TEXT,"
    "  artifact TEXT,"
    "  seconds REAL,"
    "  stored_ns INTEGER NOT NULL,"
    "  hash TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX builds_bisection ON builds(bisection, task);"
    "CREATE INDEX builds_key ON builds(build_key, platform, revision);"

    "CREATE TABLE samples ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  task TEXT NOT NULL REFERENCES tasks(id),"
    "  run INTEGER NOT NULL," /* index into the task's runs */
    "  attempt INTEGER NOT NULL,"
    "  project TEXT NOT NULL, metric TEXT NOT NULL, measure_key TEXT NOT NULL,"
    "  revision TEXT NOT NULL, platform TEXT NOT NULL,"
    "  number INTEGER NOT NULL,"
    "  seed TEXT NOT NULL," /* 64 bits, decimal */
    "  status TEXT NOT NULL,"
    "  reason TEXT,"
    "  value REAL,"
    "  all_values TEXT NOT NULL," /* JSON list */
    "  at_ns INTEGER NOT NULL,"   /* the worker's clock */
    "  seconds REAL,"
    "  host TEXT, worker TEXT," /* the rest of the environment: results */
    "  stored_ns INTEGER NOT NULL,"
    "  hash TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX samples_bisection ON samples(bisection, task);"
    "CREATE INDEX samples_key ON samples(measure_key, platform);"
    "CREATE INDEX samples_history ON samples(project, metric, revision);"

    "CREATE TABLE logs ("
    "  task TEXT PRIMARY KEY REFERENCES tasks(id),"
    "  sha256 TEXT NOT NULL," /* of the plain text */
    "  bytes INTEGER NOT NULL,"
    "  stored_ns INTEGER NOT NULL"
    ") STRICT;"

    "CREATE TABLE artifacts ("
    "  sha256 TEXT PRIMARY KEY," /* of the plain tar */
    "  bytes INTEGER NOT NULL,"  /* packed */
    "  used_ns INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX artifacts_used ON artifacts(used_ns);"

    "CREATE TABLE workers ("
    "  name TEXT PRIMARY KEY,"
    "  host TEXT NOT NULL, platform TEXT NOT NULL, engine TEXT NOT NULL,"
    "  tags TEXT,"
    "  seen_ns INTEGER NOT NULL,"
    "  draining INTEGER NOT NULL DEFAULT 0"
    ") STRICT;"

    /* Derived: may be emptied. */
    "CREATE TABLE decisions ("
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  ordinal INTEGER NOT NULL,"
    "  after_seq INTEGER NOT NULL,"
    "  spec TEXT NOT NULL,"
    "  PRIMARY KEY (bisection, ordinal)"
    ") STRICT;"
    "CREATE TABLE posteriors ("
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  seq INTEGER NOT NULL,"
    "  posterior TEXT NOT NULL,"
    "  PRIMARY KEY (bisection, seq)"
    ") STRICT;"
    "CREATE TABLE verdicts ("
    "  bisection TEXT PRIMARY KEY REFERENCES bisections(id),"
    "  verdict TEXT NOT NULL"
    ") STRICT;"

    "CREATE TABLE answers ("
    "  scope TEXT NOT NULL,"
    "  key TEXT NOT NULL,"
    "  request TEXT NOT NULL," /* SHA-256 */
    "  status INTEGER NOT NULL,"
    "  body TEXT NOT NULL,"
    "  stored_ns INTEGER NOT NULL,"
    "  PRIMARY KEY (scope, key)"
    ") STRICT;"
    "CREATE INDEX answers_stored ON answers(stored_ns);"

    "CREATE TABLE tokens ("
    "  id TEXT PRIMARY KEY,"
    "  hash TEXT NOT NULL UNIQUE," /* SHA-256 of the token */
    "  role TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  created_ns INTEGER NOT NULL,"
    "  expires_ns INTEGER,"
    "  revoked INTEGER NOT NULL DEFAULT 0"
    ") STRICT;",

    /* 2: work for idle workers alone, and what finished verdicts were checked with */
    "ALTER TABLE bisections ADD COLUMN when_idle INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE tasks ADD COLUMN when_idle INTEGER NOT NULL DEFAULT 0;" /* as its bisection's */
    "DROP INDEX tasks_state;"
    "CREATE INDEX tasks_state ON tasks(state, platform, when_idle, bisection);"
    "CREATE INDEX bisections_finished ON bisections(finished_ns, seq);"

    "CREATE TABLE checks ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  bisection TEXT NOT NULL REFERENCES bisections(id),"
    "  claim TEXT NOT NULL," /* model/claim.h */
    "  outcome TEXT,"        /* NULL: open */
    "  reason TEXT,"
    "  asked_ns INTEGER NOT NULL, ended_ns INTEGER,"
    "  UNIQUE (bisection, claim)"
    ") STRICT;"
    "CREATE INDEX checks_open ON checks(seq) WHERE outcome IS NULL;"
    "CREATE TABLE check_parts ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  checked INTEGER NOT NULL REFERENCES checks(seq),"
    "  base TEXT NOT NULL," /* revision */
    "  comparison TEXT NOT NULL UNIQUE REFERENCES bisections(id),"
    "  found TEXT" /* NULL: measuring */
    ") STRICT;"
    "CREATE INDEX check_parts_checked ON check_parts(checked);"
    "CREATE INDEX check_parts_open ON check_parts(comparison) WHERE found IS NULL;"

    /* Derived too: does what is stated follow from the samples? */
    "CREATE TABLE replays ("
    "  bisection TEXT PRIMARY KEY REFERENCES bisections(id),"
    "  stated TEXT NOT NULL," /* of this verdict; another one is replayed anew */
    "  outcome TEXT NOT NULL,"
    "  says TEXT NOT NULL" /* what the samples say */
    ") STRICT;",

    /* 3: what was built is not always the revision as it is */
    "ALTER TABLE builds ADD COLUMN reverted TEXT;" /* a commit, on top of the revision */
    "ALTER TABLE builds ADD COLUMN fixups TEXT;"   /* what they are called */
    "ALTER TABLE samples ADD COLUMN reverted TEXT;"
    "ALTER TABLE samples ADD COLUMN fixups TEXT;",

    /* 4: time series that others measured */
    "CREATE TABLE series ("
    "  id INTEGER PRIMARY KEY,"
    "  project TEXT NOT NULL, metric TEXT NOT NULL, platform TEXT NOT NULL,"
    "  host TEXT NOT NULL,"
    "  UNIQUE (project, metric, platform, host)"
    ") STRICT;"
    "CREATE TABLE points ("
    "  seq INTEGER PRIMARY KEY," /* from the same sequence as samples: see points.c */
    "  series INTEGER NOT NULL REFERENCES series(id),"
    "  revision TEXT NOT NULL,"
    "  at_ns INTEGER NOT NULL," /* as the source has it */
    "  value REAL NOT NULL,"
    "  nth INTEGER NOT NULL," /* among equal ones */
    "  stored_ns INTEGER NOT NULL,"
    "  UNIQUE (series, revision, at_ns, value, nth)"
    ") STRICT;"
    "CREATE INDEX points_time ON points(series, at_ns);"
    /* With the columns that lists of samples have. */
    "CREATE VIEW imported AS SELECT p.seq AS seq, NULL AS bisection, NULL AS task,"
    "  x.project AS project, x.metric AS metric, p.revision AS revision, p.nth AS number,"
    "  NULL AS seed, p.stored_ns AS stored_ns, x.platform AS platform, x.host AS host,"
    "  NULL AS worker, NULL AS kernel, NULL AS cpu, 0 AS n_cpus, NULL AS load, NULL AS sandbox,"
    "  NULL AS isolation, 0 AS run, 0 AS attempt, 'ok' AS status, NULL AS reason,"
    "  NULL AS all_values, p.value AS value, p.at_ns AS at_ns, NULL AS seconds,"
    "  NULL AS reverted, NULL AS fixups FROM points AS p JOIN series AS x ON x.id = p.series;",

    /* 5: why culprits changed what they changed */
    "CREATE TABLE explanations ("
    "  bisection TEXT PRIMARY KEY REFERENCES bisections(id),"
    "  task TEXT NOT NULL UNIQUE REFERENCES tasks(id),"
    "  zstd BLOB,"     /* what the task saw; NULL: nothing yet */
    "  document TEXT," /* what follows; NULL: under way */
    "  opened_ns INTEGER NOT NULL, closed_ns INTEGER"
    ") STRICT;",
};

/* What chains cover, and series. The triggers are temporary, of our own connection: outside tools can still
 * write, and are found out by the chain instead. */
static const char *const guarded[] = {"events", "results", "builds", "samples", "series", "points"};

int schema_version(void)
{
    return (int)LEN(migrations);
}

static enum err_code exec(struct store *s, const char *sql, struct err *e)
{
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return rc ? db_error(s, rc, "schema", e) : ERR_OK;
}

static enum err_code read_int(struct store *s, const char *sql, int64_t *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, sql, NO_CELLS, e);
    if (code)
        return code;
    *out = query_int(&q, 0);
    return ERR_OK;
}

/** Ours, or empty. */
static enum err_code check_owner(struct store *s, struct err *e)
{
    int64_t application = 0, n_objects = 0;
    enum err_code code = read_int(s, "PRAGMA application_id", &application, e);
    if (!code)
        code = read_int(s, "SELECT count(*) FROM sqlite_schema", &n_objects, e);
    if (code)
        return code;
    if (application == SCHEMA_APPLICATION_ID || (!application && !n_objects))
        return ERR_OK;
    err_set(e, ERR_INVALID, "%s is a database of another program", s->path);
    return err_hint(e, "name another data_dir, or move that file away");
}

static enum err_code migrate_to(struct store *s, int version, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = exec(s, migrations[version - 1], e);
    if (code)
        return code;
    AUTO(mem_free)
    char *marks = mem_printf("PRAGMA application_id = %lld; PRAGMA user_version = %d",
                             (long long)SCHEMA_APPLICATION_ID, version);
    code = exec(s, marks, e);
    return code ? code : unit_keep(&u, e);
}

enum err_code schema_migrate(struct store *s, struct err *e)
{
    int64_t version = 0;
    enum err_code code = check_owner(s, e);
    if (!code)
        code = read_int(s, "PRAGMA user_version", &version, e);
    if (code)
        return code;
    if (version > schema_version()) {
        err_set(e, ERR_INVALID, "%s has schema %lld, this program knows up to %d", s->path,
                (long long)version, schema_version());
        return err_hint(e,
                        "upgrade bisectd to the version that wrote it, or name another data_dir");
    }
    for (int next = (int)version + 1; next <= schema_version(); next++)
        if ((code = migrate_to(s, next, e)))
            return err_wrap(e, "to schema %d", next);
    return ERR_OK;
}

enum err_code schema_guard(struct store *s, struct err *e)
{
    for (size_t i = 0; i < LEN(guarded); i++) {
        AUTO(mem_free)
        char *sql =
            mem_printf("CREATE TEMP TRIGGER %s_no_update BEFORE UPDATE ON main.%s "
                       "BEGIN SELECT RAISE(ABORT, '%s are append only'); END;"
                       "CREATE TEMP TRIGGER %s_no_delete BEFORE DELETE ON main.%s "
                       "BEGIN SELECT RAISE(ABORT, '%s are append only'); END;",
                       guarded[i], guarded[i], guarded[i], guarded[i], guarded[i], guarded[i]);
        enum err_code code = exec(s, sql, e);
        if (code)
            return code;
    }
    return ERR_OK;
}
