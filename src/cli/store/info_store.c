#include "cli/store/info_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "cli/print/facts.h"
#include "cli/shell/cli.h"
#include "model/traces/trace.h"
#include "store/segment/reader.h"
#include "store/segment/segments.h"
#include "store/write/java_import.h"

struct summary {
    uint64_t segments, sealed, damaged;
    uint64_t rows, traces, records, errors;
    uint64_t first_ns, last_ns, len;
};

static bool add_rows(struct summary *summary, const struct cn_segment *segment,
                     struct cn_error *err)
{
    struct cn_store_row row;

    for (uint32_t i = 0; i < cn_segment_row_count(segment); i++) {
        if (!cn_segment_row(segment, i, &row, err))
            return false;
        summary->rows++;
        if (row.flags & CN_ROW_EMBEDDED || row.part != 0)
            continue;
        summary->traces++;
        summary->records += row.records;
        summary->errors += row.errors > 0;
        if (row.time_ns < summary->first_ns)
            summary->first_ns = row.time_ns;
        if (row.time_ns > summary->last_ns)
            summary->last_ns = row.time_ns;
    }
    return true;
}

static bool summarize(struct summary *summary, const char *path, struct cn_error *err)
{
    struct cn_store *store;
    bool ok = true;

    if (!cn_store_open(&store, path, err))
        return false;
    *summary = (struct summary){.first_ns = UINT64_MAX};
    summary->segments = cn_store_segment_count(store);
    for (size_t i = 0; ok && i < summary->segments; i++) {
        const struct cn_segment *segment = cn_store_segment(store, i);

        summary->sealed += cn_segment_is_sealed(segment);
        summary->damaged += cn_segment_is_damaged(segment);
        summary->len += cn_segment_disk_len(path, cn_segment_number(segment));
        ok = add_rows(summary, segment, err);
    }
    cn_store_close(store);
    return ok;
}

static bool count_trace(void *arg, const struct cn_trace *trace, uint64_t data_off,
                        struct cn_error *err)
{
    struct summary *summary = arg;
    uint64_t time_ns = trace->span_count > 0 ? trace->spans[0].time_ns : 0;

    (void)data_off;
    (void)err;
    summary->rows += trace->span_count;
    summary->traces++;
    summary->records += trace->node_count;
    summary->errors += trace->nodes[0].errors > 0;
    if (time_ns < summary->first_ns)
        summary->first_ns = time_ns;
    if (time_ns > summary->last_ns)
        summary->last_ns = time_ns;
    return true;
}

/* A store of the original implementation has no rows: its data is read. */
static bool summarize_java(struct summary *summary, const char *path,
                           struct cn_error *err)
{
    struct cn_java_import_counts counts;
    uint32_t *numbers = NULL;
    size_t count = 0;

    *summary = (struct summary){.first_ns = UINT64_MAX};
    if (!cn_java_store_walk(path, count_trace, summary, &counts, err) ||
        !cn_segments_list(path, &numbers, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        summary->len += cn_segment_disk_len(path, numbers[i]);
    free(numbers);
    summary->segments = counts.segments;
    summary->damaged = counts.bad_chunks + counts.bad_files;
    return true;
}

static void print_facts(const struct cn_args *args, const struct summary *s)
{
    struct cn_facts facts;

    cn_facts_begin(&facts, cn_cli_format(args));
    cn_facts_str(&facts, "format", "store");
    cn_facts_u64(&facts, "segments", s->segments);
    cn_facts_u64(&facts, "sealed_segments", s->sealed);
    cn_facts_u64(&facts, "damaged_segments", s->damaged);
    cn_facts_u64(&facts, "traces", s->traces);
    cn_facts_u64(&facts, "spans", s->rows);
    cn_facts_u64(&facts, "records", s->records);
    cn_facts_u64(&facts, "failed_traces", s->errors);
    cn_facts_u64(&facts, "first_ns", s->traces ? s->first_ns : 0);
    cn_facts_u64(&facts, "last_ns", s->last_ns);
    cn_facts_u64(&facts, "bytes", s->len);
    cn_cli_print_facts(args, &facts);
}

static void add_time(struct cn_text *text, const char *label, uint64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm tm;
    char stamp[40];

    (void)gmtime_r(&seconds, &tm);
    (void)strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S UTC", &tm);
    cn_text_printf(text, "%-16s %s\n", label, stamp);
}

static void print_text(const struct cn_args *args, const struct summary *s)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%-16s store\n", "format");
    cn_text_printf(&text, "%-16s %" PRIu64 ", of which sealed %" PRIu64 "\n", "segments",
                   s->segments, s->sealed);
    if (s->damaged > 0)
        cn_text_printf(&text, "%-16s %" PRIu64 ": see cairn verify\n", "damaged segments",
                       s->damaged);
    cn_text_printf(&text, "%-16s %" PRIu64 ", failed %" PRIu64 "\n", "traces", s->traces,
                   s->errors);
    cn_text_printf(&text, "%-16s %" PRIu64 "\n", "spans", s->rows);
    cn_text_printf(&text, "%-16s %" PRIu64 "\n", "records", s->records);
    if (s->traces > 0) {
        add_time(&text, "first", s->first_ns);
        add_time(&text, "last", s->last_ns);
    }
    cn_text_printf(&text, "%-16s %" PRIu64, "bytes", s->len);
    if (s->records > 0)
        cn_text_printf(&text, ", %.2f a record", (double)s->len / (double)s->records);
    cn_text_char(&text, '\n');
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

bool cn_info_store(const struct cn_args *args, const char *path, struct cn_error *err)
{
    struct summary summary;

    if (cn_java_store_probe(path) ? !summarize_java(&summary, path, err)
                                  : !summarize(&summary, path, err))
        return false;
    if (cn_cli_format(args) == CN_TABLE_TEXT)
        print_text(args, &summary);
    else
        print_facts(args, &summary);
    return true;
}
