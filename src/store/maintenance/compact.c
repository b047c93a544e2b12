/* Joins small segments into large ones. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/chunk_format.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/size.h"
#include "base/text.h"
#include "model/traces/trace.h"
#include "store/maintenance/care.h"
#include "store/segment/scan.h"
#include "store/segment/seal.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/segment/weights.h"
#include "store/segment/writer.h"
#include "store/write/lock.h"
#include "store/write/spans_seen.h"
#include "store/write/translate.h"
#include "store/write/writer.h"

struct compact_joining {
    const char *base;
    struct cn_segment_writer target;
    struct cn_spans_seen seen;
    struct cn_translation translation;
    struct cn_trace trace;
    const struct cn_care_choice *choice; /* NULL: all */
    struct cn_store_sampled sampled;     /* of the target */
    uint32_t rates[CN_STORE_RATES_MAX];  /* of its traces */
    size_t rate_count;
    uint64_t rows;
};

static bool is_new(struct compact_joining *joining, const struct cn_trace *trace,
                   uint64_t span_id)
{
    struct cn_store_row row = {
        .trace_high = trace->id_high,
        .trace_low = trace->id_low,
        .span_id = span_id,
        .flags = CN_ROW_LAST,
    };

    return cn_spans_seen_add(&joining->seen, &row);
}

static bool wants_span(void *arg, const struct cn_trace *trace,
                       const struct cn_trace_span *span)
{
    return is_new(arg, trace, span->id);
}

static bool copy_trace(struct compact_joining *joining, uint64_t span_id,
                       struct cn_error *err)
{
    struct cn_zorka_part part;

    if (!is_new(joining, &joining->trace, span_id))
        return true;
    joining->rows++;
    const struct cn_trace *trace =
        cn_translate(&joining->translation, &joining->trace, &joining->target.words);
    return cn_segment_writer_add(&joining->target, trace, 0, wants_span, joining, &part,
                                 err) &&
           (cn_segment_writer_waiting(&joining->target) < 8 << 20 ||
            cn_segment_writer_commit(&joining->target, err));
}

/* The rate of a trace in the target; 0: it is not there. */
static uint32_t rate_of(const struct compact_joining *joining,
                        const struct cn_row_weights *weights, uint32_t number,
                        const struct cn_store_row *row)
{
    uint32_t chosen =
        joining->choice ? joining->choice->rate(joining->choice->arg, row) : CN_RATE_ALL;
    uint64_t both = (uint64_t)chosen * cn_row_rate(weights, number) / CN_RATE_ALL;

    return chosen > 0 && both == 0 ? 1 : (uint32_t)both;
}

typedef bool (*row_visit)(struct compact_joining *joining,
                          const struct cn_segment *segment, uint32_t number,
                          const struct cn_store_row *row, uint32_t rate, void *arg,
                          struct cn_error *err);

/* Each trace that stays. */
static bool visit_rows(struct compact_joining *joining, const struct cn_segment *segment,
                       row_visit visit, void *arg, struct cn_error *err)
{
    struct cn_row_weights weights = cn_segment_weights(segment);
    struct cn_store_row row;

    for (uint32_t i = 0; i < cn_segment_row_count(segment); i++) {
        if (!cn_segment_row(segment, i, &row, err))
            return false;
        if (!cn_store_row_is_trace(&row))
            continue;
        uint32_t rate = rate_of(joining, &weights, i, &row);
        if (rate > 0 && !visit(joining, segment, i, &row, rate, arg, err))
            return false;
    }
    return true;
}

static bool note_rate(struct compact_joining *joining, const struct cn_segment *segment,
                      uint32_t number, const struct cn_store_row *row, uint32_t rate,
                      void *arg, struct cn_error *err)
{
    (void)segment;
    (void)number;
    (void)row;
    (void)arg;
    for (size_t i = joining->rate_count; i-- > 0;)
        if (joining->rates[i] == rate)
            return true;
    if (joining->rate_count == CN_STORE_RATES_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "segments have traces of more than %d rates",
                       CN_STORE_RATES_MAX);
    joining->rates[joining->rate_count++] = rate;
    return true;
}

struct compact_copy {
    struct cn_segment_loader *loader;
    uint32_t rate; /* of the traces that are copied */
};

static bool copy_row(struct compact_joining *joining, const struct cn_segment *segment,
                     uint32_t number, const struct cn_store_row *row, uint32_t rate,
                     void *arg, struct cn_error *err)
{
    const struct compact_copy *copy = arg;

    if (rate != copy->rate)
        return true;
    if (cn_segment_load(copy->loader, segment, number, &joining->trace, err))
        return copy_trace(joining, row->span_id, err);
    return err->kind == CN_ERR_NOT_FOUND; /* a part without its first part */
}

/* A damaged segment is not joined: the file that it has is all that is left of it. */
static bool visit_segment(struct compact_joining *joining, uint32_t number,
                          row_visit visit, void *arg, struct cn_error *err)
{
    struct cn_segment *segment;

    if (!cn_segment_open(&segment, joining->base, number, err))
        return false;
    bool ok = cn_segment_check(segment, err) && cn_segment_check_words(segment, err) &&
              visit_rows(joining, segment, visit, arg, err);
    cn_translation_forget(&joining->translation);
    cn_segment_close(segment);
    return ok;
}

/* Add up what sampling did to the segments that are joined. */
static bool add_sampled(struct cn_store_sampled *sum, const char *base, uint32_t number,
                        const struct cn_care_choice *choice, struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_store_config config;
    bool ok = cn_store_config_read(&config, dir, err);

    free(dir);
    sum->is_awaited = ok && config.sampled.is_awaited;
    if (!ok || !config.sampled.is_sampled)
        return ok;
    sum->is_sampled = true;
    /* What expires takes with it how much was dropped then. */
    sum->dropped_traces += choice ? 0 : config.sampled.dropped_traces;
    sum->dropped_spans += choice ? 0 : config.sampled.dropped_spans;
    return true;
}

/* Traces of one rate after the other, each from a new chunk on. */
static bool copy_rates(struct compact_joining *joining, const uint32_t *numbers,
                       size_t count, struct cn_error *err)
{
    struct compact_copy copy = {0};
    struct cn_store_sampled *sampled = &joining->sampled;
    bool ok = true;

    for (size_t r = 0; ok && r < joining->rate_count; r++) {
        copy.rate = joining->rates[r];
        ok = r == 0 || cn_segment_writer_commit(&joining->target, err);
        if (sampled->is_sampled)
            sampled->rates[sampled->rate_count++] =
                (struct cn_store_rate){joining->target.files.data.len, joining->rates[r]};
        for (size_t i = 0; ok && i < count; i++) {
            /* It caches a chunk of the segment, which is closed. */
            copy.loader = cn_segment_loader_new();
            ok = visit_segment(joining, numbers[i], copy_row, &copy, err);
            cn_segment_loader_free(copy.loader);
        }
    }
    return ok;
}

/* What the new segment is made of, before it is. */
static bool look_over(struct compact_joining *joining, const uint32_t *numbers,
                      size_t count, struct cn_error *err)
{
    const struct cn_care_choice *choice = joining->choice;
    bool ok = true;

    if (choice && choice->sampled)
        joining->sampled = *choice->sampled;
    for (size_t i = 0; ok && i < count; i++)
        ok = ((choice && choice->sampled) ||
              add_sampled(&joining->sampled, joining->base, numbers[i], choice, err)) &&
             (!joining->sampled.is_sampled ||
              visit_segment(joining, numbers[i], note_rate, NULL, err));
    if (ok && !joining->sampled.is_sampled)
        joining->rates[joining->rate_count++] = CN_RATE_ALL;
    return ok;
}

/* Segments that are made here have a lane of their own: the newest segments of the others contain
 * what senders may send again. */
#define KEPT_LANE "kept"

static bool note_sampled(const char *base, uint32_t number,
                         const struct cn_store_config *own, struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    bool ok = (!own->sampled.is_sampled && !own->sampled.is_awaited) ||
              cn_store_config_write(own, dir, &cn_disk_files, err);

    free(dir);
    return ok;
}

/* Once the config of the new segment says that it is sealed, the segments it replaces are no
 * longer listed. */
static bool join(struct compact_joining *joining, const uint32_t *numbers, size_t count,
                 uint32_t number, const struct cn_store_config *config,
                 struct cn_error *err)
{
    struct cn_store_config own = *config;

    if (!look_over(joining, numbers, count, err))
        return false;
    own.created_ns = cn_clock_date_ns();
    own.has_replaced = true;
    own.replaced_first = numbers[0];
    own.replaced_last = numbers[count - 1];
    memcpy(own.lane, KEPT_LANE, sizeof(KEPT_LANE));
    if (!cn_segment_writer_create(&joining->target, joining->base, number, &own,
                                  &cn_disk_files, err))
        return false;
    if (!copy_rates(joining, numbers, count, err)) {
        cn_segment_writer_abandon(&joining->target);
        return false;
    }
    own.sampled = joining->sampled;
    return cn_segment_writer_close(&joining->target, err) &&
           note_sampled(joining->base, number, &own, err) &&
           cn_segment_seal(joining->base, number, &cn_disk_files, err);
}

/* A number above those of all segments, also of those that are gone. */
static bool highest_number(const char *base, uint32_t *out, struct cn_error *err)
{
    uint32_t next = 0;

    if (!cn_segments_next_number(base, &next, err))
        return false;
    *out = next;
    return next <= CN_SEGMENT_NUMBER_MAX ||
           cn_fail(err, CN_ERR_LIMIT, "%s: all numbers of segments are used", base);
}

bool cn_care_replace(const struct cn_store_care *care, const uint32_t *numbers,
                     size_t count, const struct cn_care_choice *choice,
                     uint64_t *row_count, struct cn_error *err)
{
    struct compact_joining joining = {.base = care->base, .choice = choice};
    struct cn_store_config config;
    struct cn_error ignored;
    uint32_t number;

    *row_count = 0;
    if (!cn_store_config_read(&config, care->base, err) ||
        !(care->numbers ? cn_segment_numbers_take(care->numbers, care->base, &number, err)
                        : highest_number(care->base, &number, err)))
        return false;
    bool ok = join(&joining, numbers, count, number, &config, err);
    if (care->numbers)
        cn_segment_numbers_made(care->numbers);
    /* What was not joined is not sealed, and does not replace anything. */
    if (!ok)
        (void)!cn_segment_remove(care->base, number, &ignored);
    /* From now on, for cn_care_clean(). */
    for (size_t i = 0; ok && care->grace_ns > 0 && i < count; i++)
        (void)!cn_segment_mark_gone(care->base, numbers[i], &ignored);
    *row_count = ok ? joining.rows : 0;
    cn_spans_seen_done(&joining.seen);
    cn_translation_done(&joining.translation);
    cn_trace_done(&joining.trace);
    return ok;
}

bool cn_care_clean(const struct cn_store_care *care, struct cn_error *err)
{
    return cn_segments_clean(care->base, care->grace_ns, err);
}

/* The segments of a store and their bytes on disk. */
struct sizes {
    uint32_t *numbers;
    uint64_t *lens, sum;
    size_t count;
};

static bool measure(struct sizes *sizes, const char *base, struct cn_error *err)
{
    *sizes = (struct sizes){0};
    if (!cn_segments_list(base, &sizes->numbers, &sizes->count, err))
        return false;
    sizes->lens = cn_alloc(sizes->count, sizeof(*sizes->lens));
    for (size_t i = 0; i < sizes->count; i++) {
        char *dir = cn_segment_dir(base, sizes->numbers[i]);

        sizes->lens[i] = cn_segment_disk_len(dir);
        sizes->sum += sizes->lens[i];
        free(dir);
    }
    return true;
}

static void sizes_done(struct sizes *sizes)
{
    free(sizes->numbers);
    free(sizes->lens);
    *sizes = (struct sizes){.sum = sizes->sum};
}

bool cn_care_may_join(const struct cn_store_care *care)
{
    if (!care->numbers)
        return true;
    cn_lock_take(&care->numbers->lock);
    bool is_quiet = care->numbers->made_later == 0;
    cn_lock_release(&care->numbers->lock);
    return is_quiet;
}

/* Extend a run whose first segment is at `sampled`: only sealed segments, all of them sampled or none,
 * with few rates. */
static bool add_sealed(const struct cn_care_runs *runs, const char *base, uint32_t number,
                       bool is_first, struct cn_store_sampled *sampled)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_store_config config;
    struct cn_error ignored;
    bool is = cn_store_config_read(&config, dir, &ignored) && config.is_sealed;

    free(dir);
    if (!is || (runs->only_sampled && !config.sampled.is_sampled))
        return false;
    if (is_first) {
        *sampled = config.sampled;
        return true;
    }
    for (size_t i = 0; i < config.sampled.rate_count; i++) {
        size_t k = 0;

        while (k < sampled->rate_count &&
               sampled->rates[k].rate != config.sampled.rates[i].rate)
            k++;
        if (k == CN_STORE_RATES_MAX)
            return false;
        if (k == sampled->rate_count)
            sampled->rates[sampled->rate_count++] = config.sampled.rates[i];
    }
    return config.sampled.is_sampled == sampled->is_sampled &&
           config.sampled.is_awaited == sampled->is_awaited;
}

/* Extend the times of a run by those of a segment; a segment that cannot be opened is not joined. */
static bool add_times(const char *base, uint32_t number, uint64_t *first_ns,
                      uint64_t *last_ns)
{
    uint64_t first, last;
    struct cn_segment *segment;
    struct cn_error ignored;

    if (!cn_segment_open(&segment, base, number, &ignored))
        return false;
    cn_segment_times(segment, &first, &last);
    cn_segment_close(segment);
    if (first > last) /* it is empty */
        return true;
    *first_ns = first < *first_ns ? first : *first_ns;
    *last_ns = last > *last_ns ? last : *last_ns;
    return true;
}

/* The end of the run of sealed segments from `i` on that fits into one. */
static size_t run_end(const struct cn_store_care *care, const struct cn_care_runs *runs,
                      const struct sizes *sizes, size_t i, uint64_t len_max,
                      uint64_t begin_ns)
{
    uint64_t len = 0, first_ns = UINT64_MAX, last_ns = 0;
    struct cn_store_sampled sampled;
    size_t end = i;

    for (; end < sizes->count; end++) {
        uint32_t number = sizes->numbers[end];

        if ((end > i && len + sizes->lens[end] > len_max) ||
            !add_sealed(runs, care->base, number, end == i, &sampled) ||
            (care->settle && cn_segment_written_ns(care->base, number) >= begin_ns) ||
            (runs->span_max_ns > 0 &&
             (!add_times(care->base, number, &first_ns, &last_ns) ||
              (end > i && last_ns > first_ns && last_ns - first_ns > runs->span_max_ns))))
            break;
        len += sizes->lens[end];
    }
    return end > i ? end : i + 1;
}

/* True if no segment is longer than the others of the run together. */
static bool is_even(const struct sizes *sizes, size_t begin, size_t end)
{
    uint64_t len = 0, longest = 0;

    for (size_t i = begin; i < end; i++) {
        len += sizes->lens[i];
        longest = sizes->lens[i] > longest ? sizes->lens[i] : longest;
    }
    return longest <= len - longest;
}

/* True for a sealed segment whose chunks have another form than the store's. */
static bool is_of_other_form(const struct cn_store_config *config, const char *base,
                             uint32_t number)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_store_config own;
    struct cn_error ignored;
    bool is = cn_store_config_read(&own, dir, &ignored) && own.is_sealed &&
              own.form != config->form && own.dialect == config->dialect;

    free(dir);
    return is;
}

bool cn_care_compact(const struct cn_store_care *care, const struct cn_care_runs *runs,
                     struct cn_store_compaction *counts, struct cn_error *err)
{
    uint64_t begin_ns = cn_clock_date_ns();
    struct cn_store_config config;
    struct sizes sizes = {0};
    size_t joined = 0;
    bool ok = true;

    if (!cn_care_may_join(care))
        return true;
    if (!cn_store_config_read(&config, care->base, err) ||
        !measure(&sizes, care->base, err))
        return false;
    counts->before += (uint32_t)sizes.count;
    counts->after += (uint32_t)sizes.count;
    counts->len_before += sizes.sum;
    for (size_t i = 0, end; ok && i < sizes.count && joined < runs->count_max; i = end) {
        uint64_t rows;

        end = run_end(care, runs, &sizes, i, config.rotate_len, begin_ns);
        /* A long one at the beginning may be too long for those after it. */
        if (runs->is_even && end - i > 1 && !is_even(&sizes, i, end)) {
            end = i + 1;
            continue;
        }
        bool is_alone = end - i < runs->len_min;
        if (is_alone &&
            (!runs->rewrites || !is_of_other_form(&config, care->base, sizes.numbers[i])))
            continue;
        if (care->settle && joined == 0)
            care->settle(care->settle_arg);
        ok = cn_care_replace(care, sizes.numbers + i, end - i, NULL, &rows, err);
        if (!ok && is_alone && err->kind == CN_ERR_FORMAT) {
            if (counts->damaged++ == 0)
                counts->damage = *err;
            ok = true;
            continue;
        }
        counts->rows += rows;
        counts->after -= ok ? (uint32_t)(end - i) - 1 : 0;
        joined++;
    }
    sizes_done(&sizes);
    if (ok && joined > 0)
        ok = measure(&sizes, care->base, err);
    counts->len_after += sizes.sum;
    sizes_done(&sizes);
    return ok;
}

void cn_store_compaction_print(struct cn_text *out,
                               const struct cn_store_compaction *compaction)
{
    cn_text_printf(out, "segments: %" PRIu32 " before, %" PRIu32 " after; size: ",
                   compaction->before, compaction->after);
    cn_size_print(out, compaction->len_before);
    cn_text_str_add(out, " before, ");
    cn_size_print(out, compaction->len_after);
    cn_text_str_add(out, " after");
    if (compaction->has_new_form)
        cn_text_str_add(out, "; versions up to 0.9 cannot read it any more");
    if (compaction->damaged > 0)
        cn_text_printf(out, "; %" PRIu32 " damaged segment%s left as %s",
                       compaction->damaged,
                       cn_plural(compaction->damaged, " is", "s are"),
                       cn_plural(compaction->damaged, "it is", "they are"));
}

/* Remove what a writer began in another form and has not filled. */
static bool remove_empty(const char *base, const struct cn_store_config *config,
                         struct cn_error *err)
{
    uint32_t *numbers;
    size_t count;

    if (!cn_segments_list(base, &numbers, &count, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        struct cn_segment *segment;
        struct cn_error ignored;

        if (!cn_segment_open(&segment, base, numbers[i], &ignored))
            continue;
        bool is_empty = !segment->config.is_sealed &&
                        segment->config.form != config->form &&
                        cn_segment_row_count(segment) == 0 &&
                        cn_segment_data(segment).len <= cn_chunk_file_header_size;
        cn_segment_close(segment);
        ok = !is_empty || cn_segment_remove(base, numbers[i], err);
    }
    free(numbers);
    return ok;
}

/* Note the form of chunks from now on. A crash afterwards leaves segments of another one, which are read
 * as well, and rewritten next time. */
static bool choose_form(const char *path, enum cn_store_form form, bool *is_new,
                        struct cn_error *err)
{
    struct cn_store_config config;
    struct cn_form_change change;

    if (!cn_store_config_read(&config, path, err) ||
        !cn_store_config_change_form(&config, form, path, &change, err))
        return false;
    *is_new = change.is_new;
    return (!change.is_any ||
            cn_store_config_write(&config, path, &cn_disk_files, err)) &&
           remove_empty(path, &config, err);
}

bool cn_store_compact(const char *path, enum cn_store_form form,
                      struct cn_store_compaction *out, struct cn_error *err)
{
    const struct cn_care_runs all = {
        .len_min = 2, .count_max = SIZE_MAX, .rewrites = true};
    struct cn_store_care care = {.base = path};
    struct cn_store_compaction counts = {0};
    uint32_t sealed;
    int lock;

    if (cn_path_is_address(path))
        return cn_bucket_compact(path, form, &all, out, err);
    if (!cn_store_seal(path, &sealed, err) || !cn_store_lock(path, &lock, err))
        return false;
    bool ok = choose_form(path, form, &counts.has_new_form, err) &&
              cn_care_clean(&care, err) && cn_care_compact(&care, &all, &counts, err) &&
              cn_care_clean(&care, err);
    cn_store_unlock(lock);
    if (ok)
        *out = counts;
    return ok;
}
