/* speedscope JSON: every call of a recording, in a profile per task, at corrected times,
 * because speedscope adds them up and does not align profiles; or the stacks of a
 * database with their weights, in a profile per thread. Frames are numbered at their first
 * use and listed at the end. */

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/calls/ids.h"
#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/write/spans/writers.h"
#include "formats/exchange/write/stacks/stacks.h"

static void add_header(struct cn_export *x)
{
    cn_text_str_add(&x->text,
                    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                    "\"exporter\":\"cairn " CN_VERSION "\",\n\"name\":");
    cn_json_quote(&x->text, cn_export_title(x));
    cn_text_str_add(&x->text, ",\"activeProfileIndex\":0,\n\"profiles\":[");
}

static const char frames_begin[] = "],\n\"shared\":{\"frames\":[";

static bool add_frame(struct cn_export *x, bool is_first,
                      const struct cn_stack_function *function, struct cn_error *err)
{
    struct cn_text *text = &x->text;

    cn_text_str_add(text, is_first ? "\n{\"name\":" : ",\n{\"name\":");
    cn_json_quote(text, function->name);
    if (function->file[0]) {
        cn_text_str_add(text, ",\"file\":");
        cn_json_quote(text, function->file);
        if (function->line > 0)
            cn_text_printf(text, ",\"line\":%" PRIu32, function->line);
    }
    cn_text_char(text, '}');
    return cn_export_flush(x, err);
}

/* The frames of calls. Tasks are written one after another and share them. */
struct speedscope_calls {
    struct cn_call_ids ids;
    struct cn_map number_of; /* by id: number of the frame */
    uint32_t *ids_in_order;
    size_t count, capacity;
    uint64_t event_count; /* of the task */
    uint64_t last_ns;
};

static uint32_t frame_of(struct speedscope_calls *calls, const struct cn_recording *rec,
                         const struct cn_span *span)
{
    uint32_t id = cn_call_ids_of(&calls->ids, rec, span->function, span->address);
    uint32_t *number = cn_map_at(&calls->number_of, id, (uint32_t)calls->count);

    if (*number == calls->count) {
        CN_PUSH(calls->ids_in_order, calls->count, calls->capacity, id);
    }
    return *number;
}

static void begin_writer(struct cn_writer *writer)
{
    struct speedscope_calls *calls = writer->arg;

    calls->event_count = 0;
    calls->last_ns = 0;
    cn_text_str_add(&writer->text, writer->slot > 0
                                       ? ",\n{\"type\":\"evented\",\"name\":"
                                       : "\n{\"type\":\"evented\",\"name\":");
    cn_text_clear(&writer->scratch);
    cn_text_printf(&writer->scratch, "%s (%" PRIu32 ")", writer->task->name,
                   writer->task->tid);
    cn_json_quote(&writer->text, cn_text_str(&writer->scratch));
    cn_text_str_add(&writer->text, ",\"unit\":\"nanoseconds\",\"events\":[");
}

static void end_writer(struct cn_writer *writer)
{
    const struct speedscope_calls *calls = writer->arg;

    cn_text_printf(&writer->text, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}",
                   calls->last_ns);
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_writer *writer = arg;
    struct speedscope_calls *calls = writer->arg;
    bool is_begin = span->kind == CN_SPAN_BEGIN;
    size_t len = 0;

    if (!is_begin && (span->kind != CN_SPAN_END || !span->has_begin))
        return;
    /* speedscope refuses times that go back, as they do when a clock jumps. */
    if (cn_writer_since_ns(writer, span->corrected_ns) > calls->last_ns)
        calls->last_ns = cn_writer_since_ns(writer, span->corrected_ns);
    cn_text_str_add(&writer->text, calls->event_count++ > 0 ? ",\n" : "\n");
    cn_text_str_add(&writer->text, is_begin ? "{\"type\":\"O\",\"frame\":"
                                            : "{\"type\":\"C\",\"frame\":");
    char *to = cn_text_room(&writer->text, 2 * CN_DIGITS_MAX + 8);
    len = cn_digits_put(to, frame_of(calls, writer->rec, span));
    memcpy(to + len, ",\"at\":", 6);
    len += 6;
    len += cn_digits_put(to + len, calls->last_ns);
    to[len++] = '}';
    cn_text_advance(&writer->text, len);
}

static bool write_events(struct cn_export *x, struct cn_error *err)
{
    static const struct cn_writer_ops ops = {
        .begin = begin_writer, .visit = visit, .end = end_writer, .is_sequential = true};
    const struct cn_recording *rec = x->query->rec;
    struct speedscope_calls calls = {0};
    struct cn_span_counts counts;
    bool ok;

    add_header(x);
    ok = cn_export_writers(x, &ops, &calls, &counts, err);
    cn_text_str_add(&x->text, frames_begin);
    for (size_t i = 0; i < calls.count && ok; i++) {
        char buffer[CN_CALL_NAME_MAX];
        struct cn_stack_function function =
            cn_stack_function(rec, &calls.ids, calls.ids_in_order[i], buffer);

        ok = add_frame(x, i == 0, &function, err);
    }
    cn_text_str_add(&x->text, "]}}\n");
    if (ok)
        cn_export_lose_counts(x, &counts, false, false);
    cn_call_ids_done(&calls.ids);
    cn_map_done(&calls.number_of);
    free(calls.ids_in_order);
    return ok;
}

/* The profiles of a database. */
struct speedscope_samples {
    struct cn_export *x;
    struct cn_stacks stacks;
    uint32_t *path; /* room for the functions of one stack */
    bool has_profiles;
};

static void add_stack(struct speedscope_samples *samples, uint32_t node)
{
    const struct cn_stack_node *nodes = samples->stacks.nodes;
    struct cn_text *text = &samples->x->text;
    uint32_t depth = nodes[node].depth;

    for (uint32_t at = node, i = depth + 1; i-- > 0; at = nodes[at].parent)
        samples->path[i] = nodes[at].function;
    for (uint32_t i = 0; i <= depth; i++) {
        cn_text_char(text, i > 0 ? ',' : '[');
        cn_text_u64(text, samples->path[i]);
    }
    cn_text_char(text, ']');
}

static bool add_profile(struct speedscope_samples *samples, const char *name,
                        struct cn_error *err)
{
    const struct cn_stacks *stacks = &samples->stacks;
    struct cn_text *text = &samples->x->text;
    const char *separator = "\n";
    uint64_t total = 0;
    bool ok = true;

    cn_text_str_add(text, "{\"type\":\"sampled\",\"name\":");
    cn_json_quote(text, name);
    cn_text_printf(text, ",\"unit\":\"%s\",\"samples\":[",
                   stacks->scale == 1 ? "none" : "nanoseconds");
    for (uint32_t i = 0; i < stacks->count && ok; i++) {
        if (cn_stack_self(&stacks->nodes[i]) == 0)
            continue;
        cn_text_str_add(text, separator);
        add_stack(samples, i);
        separator = ",\n";
        ok = cn_export_flush(samples->x, err);
    }
    cn_text_str_add(text, "],\n\"weights\":[");
    separator = "";
    for (uint32_t i = 0; i < stacks->count && ok; i++) {
        uint64_t value = cn_stack_self(&stacks->nodes[i]);

        if (value == 0)
            continue;
        cn_text_str_add(text, separator);
        cn_text_u64(text, value);
        total += value;
        separator = ",";
        ok = cn_export_flush(samples->x, err);
    }
    cn_text_printf(text, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", total);
    return ok;
}

static bool add_thread(void *arg, uint32_t index, const struct cn_profile *profile,
                       const char *name, struct cn_error *err)
{
    struct speedscope_samples *samples = arg;

    (void)profile;
    cn_text_str_add(&samples->x->text, samples->has_profiles ? ",\n" : "\n");
    samples->has_profiles = true;
    return cn_stacks_load(&samples->stacks, samples->x->db, index, err) &&
           add_profile(samples, name, err);
}

static bool write_samples(struct cn_export *x, struct cn_error *err)
{
    struct speedscope_samples samples = {.x = x};
    struct cn_stacks *stacks = &samples.stacks;
    bool ok;

    if (!cn_stacks_of_database(stacks, x, err))
        return false;
    samples.path = cn_alloc(stacks->depth_max + 2u, sizeof(*samples.path));
    add_header(x);
    ok = cn_stacks_lose(stacks, x, true, 1, err) &&
         cn_export_threads(x, add_thread, &samples, err) &&
         (samples.has_profiles || add_profile(&samples, "all threads", err));
    cn_text_str_add(&x->text, frames_begin);
    for (size_t i = 0; i < stacks->function_count && ok; i++)
        ok = add_frame(x, i == 0, &stacks->functions[i], err);
    cn_text_str_add(&x->text, "]}}\n");
    free(samples.path);
    cn_stacks_done(stacks);
    return ok;
}

const struct cn_format cn_format_speedscope = {
    .name = "speedscope",
    .summary = "speedscope JSON: every call of a recording, or the stacks of each thread "
               "of a database",
    .holds = "calls or stacks",
    .is_file = true,
    .probe = cn_speedscope_probe,
    .open_database = cn_speedscope_open,
    .export_calls = write_events,
    .export_database = write_samples,
};
