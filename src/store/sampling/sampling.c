#include "store/sampling/sampling.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "store/maintenance/care.h"
#include "store/maintenance/pins.h"
#include "store/sampling/decisions.h"
#include "store/search/query.h"
#include "store/search/segments.h"
#include "store/segment/config.h"
#include "store/segment/reader.h"
#include "store/segment/segments.h"
#include "store/traceql/traceql.h"
#include "store/write/lock.h"

/* Spans of a trace that arrive this much later are not looked for in segments from before. */
static const uint64_t apart_ns = UINT64_C(900) * 1000000000;

struct cn_sampler {
    char *base;
    const struct cn_sample_rules *rules;
    struct cn_decisions decisions;
    uint32_t next; /* segments before this number are damaged, and left */
};

/* Consecutive segments that are sampled together. */
struct sample_run {
    struct cn_sampler *sampler;
    uint32_t *numbers;
    size_t count;
    uint64_t begun_ns; /* of the first one */
    struct cn_store *store;
    struct cn_search *search;
    bool *is_in;     /* by segment of the store */
    uint8_t rule;    /* that is matched now */
    uint8_t **rules; /* by segment of the store and row: the first that matches */
    struct cn_pins pins;
    struct cn_store_sampled sampled;
};

bool cn_sampler_open(struct cn_sampler **out, const char *base,
                     const struct cn_sample_rules *rules, struct cn_error *err)
{
    struct cn_sampler *sampler = cn_alloc(1, sizeof(*sampler));

    if (!cn_decisions_open(&sampler->decisions, base, err)) {
        free(sampler);
        return false;
    }
    sampler->base = cn_strdup(base);
    sampler->rules = rules;
    *out = sampler;
    return true;
}

void cn_sampler_close(struct cn_sampler *sampler)
{
    if (!sampler)
        return;
    cn_decisions_done(&sampler->decisions);
    free(sampler->base);
    free(sampler);
}

static bool read_config(const char *base, uint32_t number, struct cn_store_config *out)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_error ignored;
    bool ok = cn_store_config_read(out, dir, &ignored);

    free(dir);
    return ok;
}

/* Sealed, not sampled, sound and quiet for long enough. Without a time to settle, also what a collector
 * without rules wrote. A clock that was set back does not keep it for ever. */
static bool is_due(const struct cn_sampler *sampler, uint32_t number, uint64_t settle_ns,
                   uint64_t *created_ns)
{
    uint64_t written_ns = cn_segment_written_ns(sampler->base, number);
    uint64_t now_ns = cn_clock_date_ns();
    struct cn_store_config config;

    if (number < sampler->next || !read_config(sampler->base, number, &config) ||
        !config.is_sealed || config.sampled.is_sampled || config.damage[0] != '\0' ||
        (settle_ns > 0 && (!config.sampled.is_awaited ||
                           (written_ns <= now_ns && now_ns - written_ns < settle_ns))))
        return false;
    *created_ns = config.created_ns;
    return true;
}

/* The first segments that are due, as many as fit into one. False if there are none. */
static bool find_run(struct sample_run *run, const struct cn_store_care *care,
                     const uint32_t *numbers, size_t count, uint64_t settle_ns,
                     uint64_t len_max)
{
    bool may_join = cn_care_may_join(care);
    uint64_t created_ns, len = 0;

    run->count = 0;
    for (size_t i = 0; i < count; i++) {
        bool is = is_due(run->sampler, numbers[i], settle_ns, &created_ns);

        if (!is && run->count > 0)
            break;
        if (!is)
            continue;
        char *dir = cn_segment_dir(run->sampler->base, numbers[i]);
        len += cn_segment_disk_len(dir);
        free(dir);
        if (run->count > 0 && (!may_join || len > len_max))
            break;
        if (run->count == 0 || created_ns < run->begun_ns)
            run->begun_ns = created_ns;
        run->numbers[run->count++] = numbers[i];
    }
    return run->count > 0;
}

/* Open what may have spans of the traces: all that was written to since, or shortly before. */
static bool open_around(struct sample_run *run, const uint32_t *numbers, size_t count,
                        uint64_t settle_ns, struct cn_error *err)
{
    const char *base = run->sampler->base;
    uint32_t *list = cn_alloc(count, sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (settle_ns == 0 ||
            cn_segment_written_ns(base, numbers[i]) + apart_ns >= run->begun_ns)
            list[n++] = numbers[i];
    bool ok = cn_store_open_some(&run->store, base, list, n, err) &&
              cn_search_open(&run->search, run->store, err);
    free(list);
    if (!ok)
        return false;
    size_t opened = cn_store_segment_count(run->store), found = 0;
    run->is_in = cn_alloc(opened, sizeof(*run->is_in));
    run->rules = cn_alloc(opened, sizeof(*run->rules));
    for (size_t i = 0; i < opened; i++) {
        const struct cn_segment *segment = cn_store_segment(run->store, i);

        for (size_t k = 0; k < run->count; k++)
            run->is_in[i] |= run->numbers[k] == cn_segment_number(segment);
        found += run->is_in[i];
        if (run->is_in[i]) {
            run->rules[i] = cn_alloc(cn_segment_row_count(segment), 1);
            memset(run->rules[i], CN_DECISION_NONE, cn_segment_row_count(segment));
        }
    }
    return found == run->count ||
           cn_fail(err, CN_ERR_BUSY, "%s: segments were removed meanwhile", base);
}

static void close_run(struct sample_run *run)
{
    for (size_t i = 0; run->rules && i < cn_store_segment_count(run->store); i++)
        free(run->rules[i]);
    free(run->rules);
    free(run->is_in);
    cn_search_close(run->search);
    cn_store_close(run->store);
    run->rules = NULL;
    run->is_in = NULL;
    run->search = NULL;
    run->store = NULL;
}

static bool note_matches(void *arg, uint32_t segment, const struct cn_store_index *index,
                         const struct cn_rows *rows, struct cn_error *err)
{
    struct sample_run *run = arg;

    (void)index;
    (void)err;
    if (!run->is_in[segment])
        return true;
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1))
        if (run->rules[segment][row] == CN_DECISION_NONE)
            run->rules[segment][row] = run->rule;
    return true;
}

/* Note the first rule that matches, for all rows of the traces that it matches. A damaged segment may
 * hide a match: then nothing is decided. */
static bool match_rules(struct sample_run *run, struct cn_error *err)
{
    const struct cn_sample_rules *rules = run->sampler->rules;
    const struct cn_search_visitor visitor = {
        .kind = CN_SEARCH_WHOLE, .visit = note_matches, .arg = run};

    for (size_t i = 0; i < rules->count && rules->list[i].query; i++) {
        struct cn_query *query;

        run->rule = (uint8_t)i;
        if (!cn_tql_query_of(&query, run->search, rules->list[i].query,
                             cn_clock_date_ns(), err))
            return cn_fail_in(err, "rule %zu", i + 1);
        bool ok = cn_search_walk(run->search, query, &visitor, err);
        cn_query_free(query);
        if (!ok)
            return cn_fail_in(err, "rule %zu", i + 1);
    }
    return cn_search_check(run->search, err);
}

typedef void (*visit_decision)(struct sample_run *run, struct cn_decision *decision,
                               const struct cn_store_row *row, uint8_t rule, void *arg);

/* All rows of the segments that are sampled, each with the decision about its trace. */
static bool each_row(struct sample_run *run, visit_decision visit, void *arg,
                     struct cn_error *err)
{
    for (size_t i = 0; i < cn_store_segment_count(run->store); i++) {
        const struct cn_segment *segment = cn_store_segment(run->store, i);

        for (uint32_t k = 0; run->is_in[i] && k < cn_segment_row_count(segment); k++) {
            struct cn_store_row row;

            if (!cn_segment_row(segment, k, &row, err))
                return false;
            visit(
                run,
                cn_decisions_at(&run->sampler->decisions, row.trace_high, row.trace_low),
                &row, run->rules[i][k], arg);
        }
    }
    return true;
}

static void note_rule(struct sample_run *run, struct cn_decision *decision,
                      const struct cn_store_row *row, uint8_t rule, void *arg)
{
    (void)row;
    (void)arg;
    if (!decision->is_new)
        return;
    decision->number = run->numbers[0];
    if (rule < decision->rule)
        decision->rule = rule;
}

/* The rate of a rule; the rest is the last of them, or stays. */
static uint32_t rate_of(const struct cn_sample_rules *rules, uint8_t *rule)
{
    if (*rule == CN_DECISION_NONE && rules->count > 0 &&
        !rules->list[rules->count - 1].query)
        *rule = (uint8_t)(rules->count - 1);
    return *rule == CN_DECISION_NONE ? CN_RATE_ALL : rules->list[*rule].rate;
}

static void decide(struct sample_run *run)
{
    struct cn_decisions *decisions = &run->sampler->decisions;

    for (size_t i = 0; i < decisions->count; i++) {
        struct cn_decision *decision = &decisions->list[i];

        if (!decision->is_new)
            continue;
        decision->rate = rate_of(run->sampler->rules, &decision->rule);
        if (!cn_sample_keeps(decision->trace_high, decision->trace_low, decision->rate))
            decision->rate = 0;
    }
}

static bool is_pinned(const struct sample_run *run, const struct cn_store_row *row)
{
    return cn_pins_have(&run->pins, row->trace_high, row->trace_low);
}

static void count_row(struct sample_run *run, struct cn_decision *decision,
                      const struct cn_store_row *row, uint8_t rule, void *arg)
{
    struct cn_sampling_counts *counts = arg;
    bool is_here = decision->number >= run->numbers[0] &&
                   decision->number <= run->numbers[run->count - 1];
    bool stays = decision->rate > 0 || is_pinned(run, row);
    size_t of = decision->rule == CN_DECISION_NONE ? CN_SAMPLE_RULES_MAX : decision->rule;

    (void)rule;
    if (row->part == 0) {
        counts->kept_spans += stays;
        counts->dropped_spans += !stays;
        run->sampled.dropped_spans += !stays;
    }
    /* Once for each trace, where it was decided. */
    if (!is_here || decision->is_counted)
        return;
    decision->is_counted = true;
    counts->kept_traces += stays;
    counts->dropped_traces += !stays;
    counts->kept[of] += stays;
    counts->dropped[of] += !stays;
    run->sampled.dropped_traces += !stays;
}

static uint32_t rate_of_row(void *arg, const struct cn_store_row *row)
{
    const struct sample_run *run = arg;
    const struct cn_decision *decision =
        cn_decisions_find(&run->sampler->decisions, row->trace_high, row->trace_low);

    return is_pinned(run, row) ? CN_RATE_ALL : decision ? decision->rate : CN_RATE_ALL;
}

/* With the lock of the pins: what is pinned now stays. */
static bool replace(struct sample_run *run, const struct cn_store_care *care,
                    struct cn_sampling_counts *counts, struct cn_error *err)
{
    const struct cn_care_choice choice = {
        .rate = rate_of_row, .arg = run, .sampled = &run->sampled};
    struct cn_sampling_counts done = *counts;
    uint64_t rows;

    run->sampled = (struct cn_store_sampled){.is_sampled = true};
    if (!each_row(run, count_row, &done, err) ||
        !cn_care_replace(care, run->numbers, run->count, &choice, &rows, err))
        return false;
    done.segments += run->count;
    *counts = done;
    return true;
}

static bool sample(struct sample_run *run, const struct cn_store_care *care,
                   struct cn_sampling_counts *counts, struct cn_error *err)
{
    struct cn_sampler *sampler = run->sampler;

    if (!match_rules(run, err) || !each_row(run, note_rule, NULL, err))
        return false;
    decide(run);
    if (!cn_decisions_save(&sampler->decisions, sampler->base, run->numbers[0], err))
        return false;
    if (care->settle)
        care->settle(care->settle_arg);
    if (!cn_pins_open(&run->pins, sampler->base, err))
        return false;
    bool ok = replace(run, care, counts, err);
    cn_pins_close(&run->pins);
    return ok;
}

/* Go back to what is on disk. Damaged segments are left as they are until the next start; others, for
 * which there was no room, are tried again. */
static void give_up(struct cn_sampler *sampler, uint32_t next,
                    const struct cn_error *failure)
{
    struct cn_error ignored;

    cn_decisions_done(&sampler->decisions);
    if (failure->kind == CN_ERR_FORMAT || failure->kind == CN_ERR_LIMIT)
        sampler->next = next;
    if (!cn_decisions_open(&sampler->decisions, sampler->base, &ignored))
        sampler->next = UINT32_MAX;
}

/* Sample the next segments; false at the end, with `is_done`, or on failure. */
static bool sample_next(struct cn_sampler *sampler, const struct cn_store_care *care,
                        uint64_t settle_ns, struct cn_sampling_counts *counts,
                        bool *is_done, struct cn_error *err)
{
    struct sample_run run = {.sampler = sampler};
    struct cn_store_config config;
    uint32_t *numbers = NULL;
    size_t count;

    if (!cn_store_config_read(&config, sampler->base, err) ||
        !cn_segments_list(sampler->base, &numbers, &count, err))
        return false;
    run.numbers = cn_alloc(count, sizeof(*run.numbers));
    *is_done = !find_run(&run, care, numbers, count, settle_ns, config.rotate_len);
    bool ok = *is_done || (open_around(&run, numbers, count, settle_ns, err) &&
                           sample(&run, care, counts, err));
    if (!ok)
        give_up(sampler, run.numbers[run.count - 1] + 1, err);
    close_run(&run);
    free(run.numbers);
    free(numbers);
    return ok;
}

bool cn_sampler_run(struct cn_sampler *sampler, const struct cn_store_care *care,
                    uint64_t settle_ns, struct cn_sampling_counts *counts,
                    struct cn_error *err)
{
    bool is_done = false;

    if (!cn_decisions_forget(&sampler->decisions, sampler->base, err))
        return false;
    while (!is_done)
        if (!sample_next(sampler, care, settle_ns, counts, &is_done, err))
            return false;
    return true;
}

void cn_sampling_counts_add(struct cn_sampling_counts *sum,
                            const struct cn_sampling_counts *counts)
{
    sum->segments += counts->segments;
    sum->kept_traces += counts->kept_traces;
    sum->dropped_traces += counts->dropped_traces;
    sum->kept_spans += counts->kept_spans;
    sum->dropped_spans += counts->dropped_spans;
    for (size_t i = 0; i <= CN_SAMPLE_RULES_MAX; i++) {
        sum->kept[i] += counts->kept[i];
        sum->dropped[i] += counts->dropped[i];
    }
}

void cn_sampling_counts_print(struct cn_text *out,
                              const struct cn_sampling_counts *counts)
{
    cn_text_printf(out,
                   "sampled %" PRIu64 " segment%s: kept %" PRIu64 " trace%s with %" PRIu64
                   " span%s, dropped %" PRIu64 " with %" PRIu64,
                   counts->segments, cn_plural(counts->segments, "", "s"),
                   counts->kept_traces, cn_plural(counts->kept_traces, "", "s"),
                   counts->kept_spans, cn_plural(counts->kept_spans, "", "s"),
                   counts->dropped_traces, counts->dropped_spans);
}

bool cn_store_sample(const char *path, const struct cn_sample_rules *rules,
                     struct cn_sampling_counts *out, struct cn_error *err)
{
    const struct cn_store_care care = {.base = path};
    struct cn_sampling_counts counts = {0};
    struct cn_sampler *sampler = NULL;
    uint32_t sealed;
    int lock;

    if (cn_path_is_address(path))
        return cn_fail(err, CN_ERR_USAGE,
                       "%s is in object storage, which is not sampled: a collector "
                       "samples before it uploads, or a store in a folder before it is "
                       "copied",
                       path);
    if (!cn_store_seal(path, &sealed, err) || !cn_store_lock(path, &lock, err))
        return false;
    bool ok = cn_care_clean(&care, err) && cn_sampler_open(&sampler, path, rules, err) &&
              cn_sampler_run(sampler, &care, 0, &counts, err) &&
              cn_care_clean(&care, err);
    cn_sampler_close(sampler);
    cn_store_unlock(lock);
    *out = counts;
    return ok;
}
