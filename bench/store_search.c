/* How long searches of a store take, one line for each kind of query, and how long it takes to
 * open one trace:
 *     bench_store_search STORE [REPEAT]
 *
 * The store holds what bench_gen_store made. A query shows the newest 100. Times are processor time,
 * the median of REPEAT (11), store and indexes opened before: "open" tells what that takes, the
 * first query included, or the newest 100 traces.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/alloc.h"
#include "model/traces/trace.h"
#include "store/groups/group.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/search/traces.h"
#include "store/segment/reader.h"

static const struct {
    const char *kind, *query, *group_by;
} questions[] = {
    {"everything, newest 100", "", NULL},
    {"time range", "since 2026-01-01T10:00 until 2026-01-01T10:59", NULL},
    {"duration", "duration > 100ms", NULL},
    {"errors", "errors", NULL},
    {"type", "type = http", NULL},
    {"trace id", "id = 19ab141b2e5875eb1a42d72c2e9360cd", NULL},
    {"rare attribute", "user.id = u12345", NULL},
    {"common attribute", "http.status = 200", NULL},
    {"attribute differs", "http.status != 200", NULL},
    {"attribute as a number", "request.id > 99000", NULL},
    {"attribute contains", "http.url contains item=55", NULL},
    {"attribute starts", "session.id starts abc", NULL},
    {"attribute ends", "session.id ends abc", NULL},
    {"attribute matches", "session.id ~ ^[a-c]+[0-9].*f$", NULL},
    {"attribute exists", "db.statement exists", NULL},
    {"attribute in the tree", "db.statement contains owner=77", NULL},
    {"one method", "method = Factory606.closeStock", NULL},
    {"many methods", "method contains get", NULL},
    {"class", "class ~ Dao[0-9]+$", NULL},
    {"exception class", "exception.class ends Failed7Exception", NULL},
    {"exception message", "exception contains \"stock 77 is\"", NULL},
    {"text, rare", "u12345", NULL},
    {"text, some", "locked", NULL},
    {"text, everywhere", "com", NULL},
    {"AND, OR, NOT", "not (errors or user.id = u00001) duration > 5ms http.url ends =7",
     NULL},
    {"group by attribute", "", "http.status"},
    {"group by 20,000 values", "", "user.id"},
    {"group by method", "", "method"},
    {"group, some", "errors", "http.url"},
};
enum {
    QUESTIONS = sizeof(questions) / sizeof(questions[0]),
    REPEAT_MAX = 1001,
    TEXT_LEN = 2000
};

static double cpu_ms(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *times, unsigned count)
{
    qsort(times, count, sizeof(*times), compare);
    return times[count / 2];
}

/* A search keeps what it found: with other blanks at its end a query is another one. */
static bool ask(struct cn_search *search, size_t i, unsigned blanks, uint64_t *count,
                struct cn_error *err)
{
    char text[TEXT_LEN];
    struct cn_search_order order = {.limit = 100};
    struct cn_search_hits hits = {0};
    struct cn_groups groups = {0};
    struct cn_query *query;
    bool ok;

    (void)snprintf(text, sizeof(text), "%s%*s", questions[i].query, (int)blanks, "");
    if (!cn_query_parse(&query, text, 0, err))
        return false;
    if (questions[i].group_by) {
        ok = cn_search_group(search, query, CN_SEARCH_SPANS, questions[i].group_by,
                             SIZE_MAX, &groups, err);
        *count = groups.count;
        cn_groups_done(&groups);
    } else {
        ok = cn_search_rows(search, query, &order, &hits, err);
        *count = hits.count;
        cn_search_hits_done(&hits);
    }
    cn_query_free(query);
    return ok;
}

static bool list_newest(struct cn_search *search, struct cn_error *err)
{
    struct cn_search_order order = {.limit = 100};
    struct cn_search_traces traces;
    struct cn_query *query;
    bool ok;

    if (!cn_query_parse(&query, "", 0, err))
        return false;
    ok = cn_search_traces(search, query, &order, &traces, err);
    if (ok)
        cn_search_traces_done(&traces);
    cn_query_free(query);
    return ok;
}

/* What a process pays that asks once. */
static bool measure_open(const char *path, bool is_newest, unsigned repeat,
                         struct cn_error *err)
{
    double times[REPEAT_MAX];

    for (unsigned r = 0; r < repeat; r++) {
        struct cn_store *store = NULL;
        struct cn_search *search = NULL;
        double begin = cpu_ms();
        uint64_t count;
        bool ok = cn_store_open(&store, path, err) &&
                  cn_search_open(&search, store, err) &&
                  (is_newest ? list_newest(search, err) : ask(search, 6, 0, &count, err));

        times[r] = cpu_ms() - begin;
        cn_search_close(search);
        cn_store_close(store);
        if (!ok)
            return false;
    }
    printf("%-26s %8.3f ms\n",
           is_newest ? "open, newest 100 traces" : "open, one rare attribute",
           median(times, repeat));
    return true;
}

static bool measure_questions(struct cn_search *search, unsigned repeat,
                              struct cn_error *err)
{
    double times[REPEAT_MAX], worst = 0;
    uint64_t count;

    for (size_t i = 0; i < QUESTIONS; i++) {
        for (unsigned r = 0; r < repeat; r++) {
            double begin = cpu_ms();

            if (!ask(search, i, r, &count, err))
                return cn_fail_in(err, "%s", questions[i].kind);
            times[r] = cpu_ms() - begin;
        }
        worst = median(times, repeat) > worst ? times[repeat / 2] : worst;
        printf("%-26s %8.3f ms  %" PRIu64 "\n", questions[i].kind, times[repeat / 2],
               count);
    }
    printf("%-26s %8.3f ms\n", "worst", worst);
    return true;
}

/* Traces here and there, each opened once. */
static bool measure_loads(const struct cn_store *store, struct cn_error *err)
{
    enum { LOADS = 501, STEP = 7919 };
    const struct cn_segment *segment = cn_store_segment(store, 0);
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    uint32_t row_count = cn_segment_row_count(segment);
    double times[LOADS];
    bool ok = row_count > 0;

    for (uint32_t i = 0; ok && i < LOADS; i++) {
        double begin = cpu_ms();

        cn_trace_clear(&trace);
        ok = cn_segment_load(loader, segment, i * STEP % row_count, &trace, err);
        times[i] = cpu_ms() - begin;
    }
    if (ok) {
        double middle = median(times, LOADS);

        printf("%-26s %8.3f ms, worst %.3f ms\n", "open a trace", middle,
               times[LOADS - 1]);
    }
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned repeat = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 11;
    struct cn_store *store = NULL;
    struct cn_search *search = NULL;
    struct cn_error err = {0};
    struct rusage usage;
    bool ok;

    if (argc < 2 || argc > 3 || repeat == 0 || repeat > REPEAT_MAX) {
        (void)fprintf(stderr, "usage: bench_store_search STORE [REPEAT]\n");
        return 2;
    }
    ok = measure_open(argv[1], false, repeat, &err) &&
         measure_open(argv[1], true, repeat, &err) &&
         cn_store_open(&store, argv[1], &err) && cn_search_open(&search, store, &err) &&
         measure_questions(search, repeat, &err);
    (void)getrusage(RUSAGE_SELF, &usage);
    ok = ok && measure_loads(store, &err);
    cn_search_close(search);
    cn_store_close(store);
    if (!ok) {
        (void)fprintf(stderr, "bench_store_search: %s\n", err.text);
        return 1;
    }
    printf("%-26s %8ld MB\n", "memory of the searches", usage.ru_maxrss / 1024);
    return 0;
}
