#include "server/http/tenants.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/size.h"
#include "base/text.h"
#include "server/sql/statements.h"

enum { LINE_LEN = 1024 };

void cn_counted_init(struct cn_counted *counted)
{
    *counted = (struct cn_counted){.served = NULL};
    (void)pthread_mutex_init(&counted->lock, NULL);
}

void cn_counted_begin(struct cn_counted *counted, struct cn_served *served)
{
    counted->served = served;
    cn_span_metrics_begin(&counted->metrics, &served->store);
}

void cn_counted_done(struct cn_counted *counted)
{
    cn_span_metrics_done(&counted->metrics);
    (void)pthread_mutex_destroy(&counted->lock);
}

void cn_counted_catch_up(void *arg)
{
    struct cn_counted *counted = arg;

    (void)pthread_mutex_lock(&counted->lock);
    cn_served_lock(counted->served);
    cn_span_metrics_catch_up(&counted->metrics, &counted->served->store);
    cn_served_unlock(counted->served);
    (void)pthread_mutex_unlock(&counted->lock);
}

/* A name is that of a folder: nothing of it may lead elsewhere. */
static bool is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);

    return len > 0 && len < CN_TENANT_NAME_LEN && name[0] != '.' &&
           strspn(name, allowed) == len;
}

static bool read_number(const char *text, uint64_t *out, struct cn_error *err)
{
    char *end;

    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno != 0 || number == 0)
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a positive number", text);
    *out = number;
    return true;
}

static bool read_limit(struct cn_tenant *tenant, const char *word, struct cn_error *err)
{
    if (strncmp(word, "keep=", 5) == 0)
        return cn_duration_parse(word + 5, CN_BARE_REFUSED, &tenant->keep.age_ns, err);
    if (strncmp(word, "keep-size=", 10) == 0)
        return cn_size_parse(word + 10, &tenant->keep.len_max, err);
    if (strncmp(word, "keep-count=", 11) == 0)
        return read_number(word + 11, &tenant->keep.count_max, err);
    if (strncmp(word, "rate=", 5) == 0)
        return read_number(word + 5, &tenant->rate_max, err);
    return cn_fail(err, CN_ERR_USAGE,
                   "'%s' is not a limit: keep=TIME, keep-size=SIZE, keep-count=N or "
                   "rate=N",
                   word);
}

static const struct cn_tenant *find_name(const struct cn_tenants *tenants,
                                         const char *name)
{
    for (size_t i = 0; i < tenants->count; i++)
        if (strcmp(tenants->list[i].name, name) == 0)
            return &tenants->list[i];
    return NULL;
}

static bool read_line(struct cn_tenants *tenants, char *line,
                      const struct cn_collector_options *limits, struct cn_error *err)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL, *name = strtok_r(line, blanks, &rest);
    struct cn_tenant *tenant = &tenants->list[tenants->count];

    if (!name || name[0] == '#')
        return true;
    if (tenants->count == CN_TENANTS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d tenants", CN_TENANTS_MAX);
    *tenant = (struct cn_tenant){.keep = limits->keep, .rate_max = limits->rate_max};
    const char *token = strtok_r(NULL, blanks, &rest), *word;
    if (!is_name(name))
        return cn_fail(err, CN_ERR_USAGE,
                       "a tenant is named by letters, digits, '.', '_' and '-', at most "
                       "%d, and not '.' first",
                       CN_TENANT_NAME_LEN - 1);
    if (find_name(tenants, name))
        return cn_fail(err, CN_ERR_USAGE, "tenant %s is there twice", name);
    if (!token)
        return cn_fail(err, CN_ERR_USAGE, "tenant %s has no token", name);
    if (!cn_guard_set_token(&tenant->guard, token, err))
        return false;
    for (size_t i = 0; i < tenants->count; i++)
        if (cn_guard_knows_token(&tenants->list[i].guard, token))
            return cn_fail(err, CN_ERR_USAGE, "tenants %s and %s have the same token",
                           tenants->list[i].name, name);
    memcpy(tenant->name, name, strlen(name));
    while ((word = strtok_r(NULL, blanks, &rest)))
        if (!read_limit(tenant, word, err))
            return false;
    tenants->count++;
    return true;
}

static bool read_file(struct cn_tenants *tenants, const char *path,
                      const struct cn_collector_options *limits, struct cn_error *err)
{
    FILE *file = fopen(path, "re");
    char line[LINE_LEN];
    struct stat st;
    bool ok = true;

    if (!file)
        return cn_fail_errno(err, "%s: cannot open it", path);
    if (fstat(fileno(file), &st) < 0 || (S_ISREG(st.st_mode) && st.st_mode & S_IWOTH))
        ok = cn_fail(err, CN_ERR_USAGE,
                     "%s: every user can write to it; run 'chmod o-w %s'", path, path);
    for (unsigned number = 1; ok && fgets(line, sizeof(line), file); number++) {
        ok = strlen(line) + 1 < sizeof(line) ||
             cn_fail(err, CN_ERR_USAGE, "the line is too long");
        ok = (ok && read_line(tenants, line, limits, err)) ||
             cn_fail_in(err, "%s: line %u", path, number);
    }
    (void)fclose(file);
    return ok && (tenants->count > 0 ||
                  cn_fail(err, CN_ERR_USAGE, "%s: it names no tenant", path));
}

static bool open_tenant(struct cn_tenant *tenant, const char *path,
                        const struct cn_collector_options *limits, struct cn_error *err)
{
    struct cn_collector_options options = *limits;
    struct cn_served_list *sources = &tenant->sources;
    char *store = cn_strprintf("%s/%s", path, tenant->name);

    cn_served_diffs_init(&tenant->diffs);
    cn_counted_init(&tenant->counted);
    sources->list = cn_alloc(1, sizeof(*sources->list));
    sources->diffs = &tenant->diffs;
    sources->statements = cn_statements_new();
    sources->answer_sql = cn_statements_answer;
    sources->answer_tables = cn_statements_tables;
    options.keep = tenant->keep;
    options.rate_max = tenant->rate_max;
    options.settle = cn_counted_catch_up;
    options.settle_arg = &tenant->counted;
    bool ok = cn_collector_open(&tenant->collector, store, &options, err) &&
              cn_served_open(&sources->list[0], store, NULL, false, err);
    if (ok) {
        sources->count = 1;
        cn_counted_begin(&tenant->counted, sources->list[0]);
        ok = cn_collector_keep(tenant->collector, err);
    }
    free(store);
    return ok;
}

bool cn_tenants_open(struct cn_tenants *tenants, const char *file, const char *path,
                     const struct cn_collector_options *limits, struct cn_error *err)
{
    size_t count;
    bool ok;

    *tenants =
        (struct cn_tenants){.list = cn_alloc(CN_TENANTS_MAX + 1, sizeof(*tenants->list))};
    ok = read_file(tenants, file, limits, err) &&
         (mkdir(path, 0777) == 0 || errno == EEXIST ||
          cn_fail_errno(err, "%s: cannot make it", path));
    count = tenants->count;
    tenants->count = 0;
    /* Those that were opened, also in part. */
    while (ok && tenants->count < count)
        ok = open_tenant(&tenants->list[tenants->count++], path, limits, err);
    if (!ok)
        cn_tenants_close(tenants, NULL, NULL);
    return ok;
}

void cn_tenants_finish(struct cn_tenants *tenants)
{
    for (size_t i = 0; i < tenants->count; i++)
        if (tenants->list[i].collector)
            cn_collector_finish(tenants->list[i].collector);
}

void cn_tenants_close(struct cn_tenants *tenants,
                      void (*log)(void *arg, const char *text), void *log_arg)
{
    for (size_t i = 0; i < tenants->count; i++) {
        struct cn_tenant *tenant = &tenants->list[i];
        struct cn_error err;

        if (tenant->collector && !cn_collector_close(tenant->collector, &err) && log)
            log(log_arg, err.text);
        cn_served_diffs_done(&tenant->diffs);
        cn_statements_free(tenant->sources.statements);
        cn_counted_done(&tenant->counted);
        for (size_t k = 0; k < tenant->sources.count; k++)
            cn_served_close(tenant->sources.list[k]);
        free(tenant->sources.list);
    }
    free(tenants->list);
    *tenants = (struct cn_tenants){0};
}

struct cn_tenant *cn_tenants_find(const struct cn_tenants *tenants,
                                  const struct cn_guard *gateway, const char *token,
                                  const char *name)
{
    bool is_gateway = token && cn_guard_knows_token(gateway, token);

    for (size_t i = 0; token && i < tenants->count; i++) {
        struct cn_tenant *tenant = &tenants->list[i];
        bool is_named = name && strcmp(name, tenant->name) == 0;

        if (is_gateway
                ? is_named
                : cn_guard_knows_token(&tenant->guard, token) && (!name || is_named))
            return tenant;
    }
    return NULL;
}

struct cn_collector_counts cn_tenants_counts(const struct cn_tenants *tenants)
{
    struct cn_collector_counts sum = {0};

    for (size_t i = 0; i < tenants->count; i++) {
        struct cn_collector_counts of = cn_collector_counts(tenants->list[i].collector);

        sum.requests += of.requests;
        sum.refused += of.refused;
        sum.put_off += of.put_off;
        sum.traces += of.traces;
        sum.parts += of.parts;
        sum.known += of.known;
        sum.records += of.records;
        sum.redacted += of.redacted;
        sum.commits += of.commits;
        sum.not_copied += of.not_copied;
        sum.failures += of.failures;
    }
    return sum;
}

struct cn_keeper_counts cn_tenants_kept(const struct cn_tenants *tenants)
{
    struct cn_keeper_counts sum = {0};

    for (size_t i = 0; i < tenants->count; i++) {
        struct cn_keeper_counts of = cn_collector_kept(tenants->list[i].collector);

        sum.segments += of.segments;
        sum.rows += of.rows;
        sum.len += of.len;
        sum.pinned += of.pinned;
        sum.joined += of.joined;
        cn_sampling_counts_add(&sum.sampled, &of.sampled);
        sum.failures += of.failures;
    }
    return sum;
}
