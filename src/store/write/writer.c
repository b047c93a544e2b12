#include "store/write/writer.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/run/job.h"
#include "model/traces/trace.h"
#include "store/bucket/bucket.h"
#include "store/segment/commit.h"
#include "store/segment/log_format.h"
#include "store/segment/reader.h"
#include "store/segment/scan.h"
#include "store/segment/seal.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/segment/writer.h"
#include "store/write/lanes.h"
#include "store/write/redact.h"
#include "store/write/spans_seen.h"
#include "store/write/translate.h"
#include "store/write/unknown_spans.h"

enum {
    COMMIT_LEN = 16 << 20, /* not compressed */
    DECODED_LEN = 8 << 20, /* words of traces that are redacted */
};

struct cn_store_writer {
    const struct cn_disk *io;
    char *base;
    struct cn_store_lanes *alone; /* of this writer only, closed with it; or NULL */
    struct cn_store_config config;
    uint32_t first; /* number of the first new segment; or CN_LANE_NO_SEGMENT */
    struct cn_segment_numbers *numbers; /* of those after it */
    uint64_t commit_len;
    struct cn_segment_writer segment;
    struct cn_spans_seen seen, older;   /* spans of this segment and of the one before */
    const struct cn_spans_seen *before; /* of all lanes, when they were opened; or NULL */
    struct cn_translation translation;
    struct cn_redactor *redactor; /* NULL: none */
    struct cn_words decoded;      /* of traces before they are redacted */
    struct cn_store_commit *cut;  /* being saved by the owner, or by `saver` */
    struct cn_store_commit *spare;
    bool saves_behind;
    struct cn_job_group jobs;
    struct cn_job saver;
    bool has_saver; /* it has the cut commit, */
    bool is_saved;  /* and saved it */
    struct cn_error save_failure;
    bool seals_later; /* the owner seals full segments: */
    uint32_t *full;
    size_t full_count, full_capacity;
    bool is_broken; /* a failure left the files inconsistent: nothing can be added */
};

bool cn_store_init(const char *path, const struct cn_store_options *options,
                   struct cn_error *err)
{
    const struct cn_disk *io = options && options->io ? options->io : &cn_disk_files;
    struct cn_store_config config = cn_store_config_of(options, cn_clock_date_ns());
    struct cn_text text = {0};
    bool exists, ok;

    if (cn_path_is_address(path)) {
        cn_store_config_print(&config, &text);
        ok = (config.dialect == CN_STORE_SPEC ||
              cn_fail(err, CN_ERR_USAGE, "%s: the dialect java needs a directory",
                      path)) &&
             cn_bucket_create(path, cn_text_str(&text), err);
        cn_text_done(&text);
        return ok;
    }
    char *config_path = cn_strprintf("%s/" CN_CONFIG_NAME, path);
    exists = access(config_path, F_OK) == 0;
    free(config_path);
    if (exists)
        return cn_fail(err, CN_ERR_USAGE, "%s is a store already", path);
    bool is_new = access(path, F_OK) != 0;
    if (!io->make_dir(io->arg, path, err))
        return false;
    ok = cn_store_config_write(&config, path, io, err);
    if (!ok && is_new)
        (void)rmdir(path);
    return ok;
}

bool cn_store_is_missing(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    bool is_empty = true;

    if (!dir)
        return access(path, F_OK) != 0;
    while (is_empty && (entry = readdir(dir)))
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                   strcmp(entry->d_name, "." CN_CONFIG_NAME ".new") == 0;
    (void)closedir(dir);
    return is_empty;
}

void cn_spans_seen_add_segment(struct cn_spans_seen *seen, const char *path,
                               uint32_t number)
{
    struct cn_segment *segment;
    struct cn_error ignored;

    if (!cn_segment_open(&segment, path, number, &ignored))
        return;
    cn_spans_seen_add_columns(seen, cn_segment_columns(segment));
    cn_segment_close(segment);
}

bool cn_segment_numbers_take(struct cn_segment_numbers *numbers, const char *base,
                             uint32_t *number, struct cn_error *err)
{
    cn_lock_take(&numbers->lock);
    bool ok = numbers->next <= CN_SEGMENT_NUMBER_MAX;
    if (ok) {
        *number = numbers->next++;
        numbers->made_later++;
    }
    cn_lock_release(&numbers->lock);
    return ok || cn_fail(err, CN_ERR_LIMIT, "%s: all numbers of segments are used", base);
}

void cn_segment_numbers_made(struct cn_segment_numbers *numbers)
{
    cn_lock_take(&numbers->lock);
    numbers->made_later--;
    cn_lock_release(&numbers->lock);
}

/* The next new segment. */
static bool create_segment(struct cn_store_writer *writer, struct cn_error *err)
{
    uint32_t number = writer->first;

    if (number == CN_LANE_NO_SEGMENT) {
        if (!cn_segment_numbers_take(writer->numbers, writer->base, &number, err))
            return false;
    } else if (number > CN_SEGMENT_NUMBER_MAX) {
        return cn_fail(err, CN_ERR_LIMIT, "%s: all numbers of segments are used",
                       writer->base);
    }
    bool ok = cn_segment_writer_create(&writer->segment, writer->base, number,
                                       &writer->config, writer->io, err);
    if (writer->first == CN_LANE_NO_SEGMENT)
        cn_segment_numbers_made(writer->numbers);
    writer->first = CN_LANE_NO_SEGMENT;
    return ok;
}

static bool open_current(struct cn_store_writer *writer, const struct cn_lane_plan *plan,
                         struct cn_error *err)
{
    if (plan->previous != CN_LANE_NO_SEGMENT)
        cn_spans_seen_add_segment(&writer->older, writer->base, plan->previous);
    if (plan->current == CN_LANE_NO_SEGMENT)
        return create_segment(writer, err);
    if (!cn_segment_writer_open(&writer->segment, writer->base, plan->current, writer->io,
                                err))
        return false;
    cn_spans_seen_add_segment(&writer->seen, writer->base, plan->current);
    return true;
}

/* An empty segment that was begun by a collector without rules. */
static bool await_sampling(struct cn_store_writer *writer, struct cn_error *err)
{
    struct cn_store_config *config = &writer->segment.config;

    if (!writer->config.sampled.is_awaited || config->sampled.is_awaited ||
        writer->segment.row_count > 0)
        return true;
    config->sampled.is_awaited = true;
    return cn_store_config_write(config, writer->segment.dir, writer->io, err);
}

static bool owner_saves(const struct cn_store_writer *writer)
{
    return writer->cut && !writer->has_saver;
}

/* Wait for the commit that the saver has. */
static bool take_back_saved(struct cn_store_writer *writer, struct cn_error *err)
{
    if (!writer->has_saver)
        return true;
    cn_job_end(&writer->saver);
    writer->has_saver = false;
    cn_store_writer_take_back(writer, writer->is_saved);
    if (!writer->is_saved)
        *err = writer->save_failure;
    return writer->is_saved;
}

static bool save(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_store_writer *writer = arg;

    (void)progress, (void)err;
    writer->is_saved = cn_store_commit_save(writer->cut, &writer->save_failure);
    return true;
}

/* Save what was added while the next commit is filled, or at once if there can be no thread. */
static bool save_behind(struct cn_store_writer *writer, struct cn_error *err)
{
    struct cn_store_commit *cut;
    struct cn_error ignored;

    if (!take_back_saved(writer, err) || !cn_store_writer_cut(writer, &cut, err))
        return false;
    writer->has_saver = cn_job_start(&writer->saver, &ignored);
    if (writer->has_saver)
        return true;
    bool ok = cn_store_commit_save(cut, err);
    cn_store_writer_take_back(writer, ok);
    return ok;
}

bool cn_store_writer_open_lane(struct cn_store_writer **out,
                               const struct cn_lane_plan *plan,
                               const struct cn_store_options *options,
                               struct cn_error *err)
{
    struct cn_store_writer *writer = cn_alloc(1, sizeof(*writer));

    writer->io = options->io;
    writer->base = cn_strdup(plan->path);
    writer->config = plan->config;
    writer->config.sampled.is_awaited = options->samples;
    writer->before = plan->before;
    writer->first = plan->first;
    writer->numbers = plan->numbers;
    writer->commit_len = options->commit_len ? options->commit_len : COMMIT_LEN;
    writer->saves_behind = options->saves_behind;
    cn_job_group_init(&writer->jobs, 1);
    writer->saver = (struct cn_job){
        .group = &writer->jobs, .work = save, .arg = writer, .what = "saving a commit"};
    writer->seals_later = options->seals_later;
    if (options->redaction)
        writer->redactor = cn_redactor_new(options->redaction);
    writer->segment.files.text.fd = writer->segment.files.data.fd =
        writer->segment.files.rows.fd = -1;
    if (!open_current(writer, plan, err) || !await_sampling(writer, err)) {
        cn_store_writer_abandon(writer);
        return false;
    }
    if (options->rotate_len)
        writer->config.rotate_len = options->rotate_len;
    if (options->rotate_ns)
        writer->config.rotate_ns = options->rotate_ns;
    *out = writer;
    return true;
}

bool cn_store_writer_open(struct cn_store_writer **out, const char *path,
                          const struct cn_store_options *options, struct cn_error *err)
{
    struct cn_store_lanes *lanes;

    if (!cn_store_lanes_open(&lanes, path, 1, options, err))
        return false;
    *out = cn_store_lane(lanes, 0);
    (*out)->alone = lanes;
    return true;
}

static void free_commit(struct cn_store_commit *commit)
{
    if (commit)
        cn_commit_done(commit);
    free(commit);
}

void cn_store_writer_abandon(struct cn_store_writer *writer)
{
    struct cn_error ignored;

    if (!writer)
        return;
    struct cn_store_lanes *alone = writer->alone;
    (void)!take_back_saved(writer, &ignored);
    cn_job_group_done(&writer->jobs);
    cn_segment_writer_abandon(&writer->segment);
    free_commit(writer->cut);
    free_commit(writer->spare);
    cn_spans_seen_done(&writer->seen);
    cn_spans_seen_done(&writer->older);
    cn_translation_done(&writer->translation);
    cn_redactor_free(writer->redactor);
    cn_words_done(&writer->decoded);
    free(writer->full);
    free(writer->base);
    free(writer);
    cn_store_lanes_release(alone);
}

/* A trace in flight keeps the segment open, up to twice its length. */
bool cn_store_writer_is_due(const struct cn_store_writer *writer)
{
    uint64_t len = cn_segment_writer_len(&writer->segment);
    uint64_t limit = writer->config.rotate_len;
    bool is_old =
        writer->config.rotate_ns != 0 && writer->segment.row_count > 0 &&
        cn_clock_date_ns() - writer->segment.config.created_ns > writer->config.rotate_ns;

    if (writer->seen.open_count > 0)
        limit *= 2;
    return (len > limit || is_old) && writer->segment.row_count > 0;
}

bool cn_store_writer_rotate(struct cn_store_writer *writer, struct cn_error *err)
{
    uint32_t number = writer->segment.number;
    bool is_saved = take_back_saved(writer, err);

    writer->is_broken = true;
    if (!is_saved || !cn_segment_writer_close(&writer->segment, err) ||
        (!writer->seals_later && !cn_segment_seal(writer->base, number, writer->io, err)))
        return false;
    if (writer->seals_later) {
        CN_PUSH(writer->full, writer->full_count, writer->full_capacity, number);
    }
    writer->config.created_ns = cn_clock_date_ns();
    if (!create_segment(writer, err))
        return false;
    cn_spans_seen_done(&writer->older);
    writer->older = writer->seen;
    writer->seen = (struct cn_spans_seen){0};
    cn_translation_forget(&writer->translation);
    writer->is_broken = false;
    return true;
}

static uint64_t newest_ns(const struct cn_store_writer *writer)
{
    uint64_t first_ns = 0, last_ns = UINT64_MAX;
    struct cn_segment *segment;
    struct cn_error ignored;

    if (!cn_segment_open(&segment, writer->base, writer->segment.number, &ignored))
        return UINT64_MAX;
    cn_columns_range(cn_segment_columns(segment), CN_STORE_FIELD_time_ns, &first_ns,
                     &last_ns);
    cn_segment_close(segment);
    return last_ns;
}

bool cn_store_writer_retire(struct cn_store_writer *writer, uint64_t before_ns,
                            struct cn_error *err)
{
    if (!cn_store_writer_commit(writer, err))
        return false;
    if (before_ns != 0 && writer->segment.row_count > 0 &&
        newest_ns(writer) < before_ns && !cn_store_writer_rotate(writer, err))
        return false;
    cn_spans_seen_done(&writer->older);
    writer->before = NULL;
    return true;
}

static bool check(const struct cn_store_writer *writer, struct cn_error *err)
{
    return !writer->is_broken ||
           cn_fail(err, CN_ERR_IO,
                   "%s: an earlier write has failed; open the store again", writer->base);
}

bool cn_store_writer_begin(struct cn_store_writer *writer, struct cn_words **words,
                           struct cn_error *err)
{
    if (!check(writer, err) || (!owner_saves(writer) && cn_store_writer_is_due(writer) &&
                                !cn_store_writer_rotate(writer, err)))
        return false;
    *words = writer->redactor ? &writer->decoded : &writer->segment.words;
    if (writer->decoded.arena_len > DECODED_LEN)
        cn_words_rewind(&writer->decoded, 0);
    return true;
}

static bool has_older_span(const struct cn_store_writer *writer,
                           const struct cn_trace *trace, uint64_t span_id)
{
    return cn_spans_seen_has(&writer->older, trace->id_high, trace->id_low, span_id,
                             trace->part) ||
           (writer->before && cn_spans_seen_has(writer->before, trace->id_high,
                                                trace->id_low, span_id, trace->part));
}

static bool has_span(const struct cn_store_writer *writer, const struct cn_trace *trace,
                     uint64_t span_id)
{
    return cn_spans_seen_has(&writer->seen, trace->id_high, trace->id_low, span_id,
                             trace->part) ||
           has_older_span(writer, trace, span_id);
}

/* False if the span was noted before. */
static bool note_span(struct cn_store_writer *writer, const struct cn_trace *trace,
                      uint64_t span_id, uint32_t flags, const struct cn_zorka_part *part)
{
    struct cn_store_row row = {
        .trace_high = trace->id_high,
        .trace_low = trace->id_low,
        .span_id = span_id,
        .flags = flags,
        .part = trace->part,
    };

    if (part) {
        row.part_off = part->part_off;
        row.part_len = part->part_len;
    }
    return cn_spans_seen_add(&writer->seen, &row);
}

/* An embedded span gets a row unless it was sent on its own before. */
static bool wants_span(void *arg, const struct cn_trace *trace,
                       const struct cn_trace_span *span)
{
    struct cn_store_writer *writer = arg;

    return !has_older_span(writer, trace, span->id) &&
           note_span(writer, trace, span->id, CN_ROW_EMBEDDED | CN_ROW_LAST, NULL);
}

static uint64_t root_span_id(const struct cn_trace *trace)
{
    uint32_t span = trace->nodes[0].span;

    return span == CN_NONE ? 0 : trace->spans[span].id;
}

static bool find_part_off(const struct cn_store_writer *writer,
                          const struct cn_trace *trace, uint64_t *part_off,
                          struct cn_error *err)
{
    *part_off = 0;
    if (trace->part == 0)
        return true;
    const struct cn_open_trace *open =
        cn_spans_seen_open(&writer->seen, trace->id_high, trace->id_low);
    if (!open || open->next_part != trace->part)
        return cn_fail(err, CN_ERR_FORMAT, "part %u of a trace arrived without part %u",
                       trace->part, trace->part - 1);
    *part_off = open->next_off;
    return true;
}

static bool add(struct cn_store_writer *writer, const struct cn_trace *trace,
                struct cn_error *err)
{
    uint32_t first_flags = trace->nodes[0].flags;
    struct cn_zorka_part part;
    uint64_t part_off;

    if (!find_part_off(writer, trace, &part_off, err))
        return false;
    if (trace->words != &writer->segment.words)
        trace = cn_translate(&writer->translation, trace, &writer->segment.words);
    if (!cn_segment_writer_add(&writer->segment, trace, part_off, wants_span, writer,
                               &part, err))
        return false;
    (void)note_span(writer, trace, root_span_id(trace),
                    first_flags & CN_TRACE_OPEN ? 0 : CN_ROW_LAST, &part);
    if (owner_saves(writer) ||
        cn_segment_writer_waiting(&writer->segment) <= writer->commit_len)
        return true;
    return writer->saves_behind ? save_behind(writer, err)
                                : cn_store_writer_commit(writer, err);
}

/* True if a trace begins with these calls: no caller of them is elsewhere. */
static bool begins(const struct cn_trace *trace)
{
    uint32_t span = trace->nodes[0].span;

    return trace->part == 0 && (span == CN_NONE || trace->spans[span].parent_id == 0);
}

static bool add_unless_known(struct cn_store_writer *writer, const struct cn_trace *trace,
                             bool is_known, struct cn_store_added *added,
                             struct cn_error *err)
{
    if (!is_known && !add(writer, trace, err))
        return false;
    if (added) {
        added->traces += !is_known && begins(trace);
        added->parts += !is_known && !begins(trace);
        added->records += is_known ? 0 : trace->node_count;
        added->known += is_known;
    }
    return true;
}

static bool is_known_span(void *arg, const struct cn_trace *trace,
                          const struct cn_trace_span *span)
{
    return has_span(arg, trace, span->id);
}

bool cn_store_writer_add(struct cn_store_writer *writer, const struct cn_trace *trace,
                         struct cn_store_added *added, struct cn_error *err)
{
    struct cn_unknown_spans unknown;
    struct cn_words *words;
    bool ok = true;

    if (trace->node_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "the trace has no calls");
    if (writer->redactor) {
        uint64_t before = cn_redactor_count(writer->redactor);

        trace = cn_redact(writer->redactor, trace);
        if (added)
            added->redacted += cn_redactor_count(writer->redactor) - before;
    }
    if (!check(writer, err) || (trace->words != &writer->segment.words &&
                                !cn_store_writer_begin(writer, &words, err)))
        return false;
    bool is_known = has_span(writer, trace, root_span_id(trace));
    if (!cn_unknown_spans_find(&unknown, trace, is_known_span, writer)) {
        ok = add_unless_known(writer, trace, is_known, added, err);
    } else {
        while (ok && cn_unknown_spans_next(&unknown))
            ok = add_unless_known(writer, &unknown.trace, false, added, err);
        if (ok && added)
            added->known += is_known;
    }
    cn_unknown_spans_done(&unknown);
    return ok;
}

bool cn_store_writer_commit(struct cn_store_writer *writer, struct cn_error *err)
{
    return check(writer, err) && take_back_saved(writer, err) &&
           cn_segment_writer_commit(&writer->segment, err);
}

uint64_t cn_store_writer_waiting(const struct cn_store_writer *writer)
{
    return cn_segment_writer_waiting(&writer->segment);
}

bool cn_store_writer_cut(struct cn_store_writer *writer, struct cn_store_commit **out,
                         struct cn_error *err)
{
    if (!check(writer, err))
        return false;
    assert(!writer->cut);
    if (!writer->spare)
        writer->spare = cn_alloc(1, sizeof(*writer->spare));
    if (!cn_segment_writer_cut(&writer->segment, writer->spare, err)) {
        writer->is_broken = true;
        return false;
    }
    writer->cut = *out = writer->spare;
    writer->spare = NULL;
    return true;
}

bool cn_store_commit_save(struct cn_store_commit *commit, struct cn_error *err)
{
    return cn_commit_save(commit, commit->files, err);
}

void cn_store_writer_take_back(struct cn_store_writer *writer, bool is_saved)
{
    writer->spare = writer->cut;
    writer->cut = NULL;
    writer->is_broken |= !is_saved;
    cn_segment_writer_note_len(&writer->segment);
}

bool cn_store_writer_take_full(struct cn_store_writer *writer, uint32_t *number)
{
    if (writer->full_count == 0)
        return false;
    *number = writer->full[--writer->full_count];
    return true;
}

bool cn_store_writer_has_rows(const struct cn_store_writer *writer)
{
    return writer->segment.row_count > 0;
}

uint32_t cn_store_writer_segment(const struct cn_store_writer *writer)
{
    return writer->segment.number;
}

bool cn_store_writer_close(struct cn_store_writer *writer, struct cn_error *err)
{
    bool ok = check(writer, err) && take_back_saved(writer, err) &&
              cn_segment_writer_close(&writer->segment, err);

    cn_store_writer_abandon(writer);
    return ok;
}
