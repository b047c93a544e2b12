/* speedscope's JSON: of a recording every call, a profile a task; of a database its
 * stacks with their weights, a profile a thread. Frames are numbered when first used
 * and listed at the end. */

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/calls/call_ids.h"
#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "base/map.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/spans/lanes.h"
#include "formats/exchange/spans/span_text.h"
#include "formats/exchange/stacks/stacks.h"

static void add_header(struct cn_export *x, const char *name)
{
    cn_text_str_add(&x->text,
                    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                    "\"exporter\":\"cairn " CN_VERSION "\",\n\"name\":");
    cn_json_quote(&x->text, name);
    cn_text_str_add(&x->text, ",\"activeProfileIndex\":0,\n\"profiles\":[");
}

static void add_frame(struct cn_text *text, bool is_first, const char *name,
                      const char *file, uint32_t line)
{
    cn_text_str_add(text, is_first ? "\n{\"name\":" : ",\n{\"name\":");
    cn_json_quote(text, name);
    if (file[0]) {
        cn_text_str_add(text, ",\"file\":");
        cn_json_quote(text, file);
        if (line > 0)
            cn_text_printf(text, ",\"line\":%" PRIu32, line);
    }
    cn_text_char(text, '}');
}

/* Frames of calls. Tasks are written one after another, so that they can share it. */
struct calls {
    struct cn_call_ids ids;
    struct cn_map number_of; /* by id: number of the frame */
    uint32_t *ids_in_order;
    size_t count, capacity;
    uint64_t event_count; /* of the task */
    uint64_t last_ns;
};

static uint32_t frame_of(struct calls *calls, const struct cn_recording *rec,
                         const struct cn_span *span)
{
    uint32_t id = cn_call_ids_of(&calls->ids, rec, span->function, span->address);
    uint32_t *number = cn_map_at(&calls->number_of, id, (uint32_t)calls->count);

    if (*number == calls->count) {
        calls->ids_in_order = cn_grow(calls->ids_in_order, calls->count, &calls->capacity,
                                      sizeof(*calls->ids_in_order));
        calls->ids_in_order[calls->count++] = id;
    }
    return *number;
}

static void begin_lane(struct cn_lane *lane)
{
    struct calls *calls = *(struct calls *const *)lane->arg;

    calls->event_count = 0;
    calls->last_ns = 0;
    lane->own = calls;
    cn_text_str_add(&lane->text, lane->slot > 0 ? ",\n{\"type\":\"evented\",\"name\":"
                                                : "\n{\"type\":\"evented\",\"name\":");
    cn_text_clear(&lane->scratch);
    cn_text_printf(&lane->scratch, "%s (%" PRIu32 ")", lane->task->name, lane->task->tid);
    cn_json_quote(&lane->text, cn_text_str(&lane->scratch));
    cn_text_str_add(&lane->text, ",\"unit\":\"nanoseconds\",\"events\":[");
}

static void end_lane(struct cn_lane *lane)
{
    struct calls *calls = lane->own;

    cn_text_printf(&lane->text, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}",
                   calls->last_ns);
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_lane *lane = arg;
    struct calls *calls = lane->own;
    bool is_call =
        span->kind <= CN_SPAN_END && (span->kind == CN_SPAN_BEGIN || span->has_begin);
    char *to;
    size_t len = 0;

    lane->counts.events += span->kind == CN_SPAN_EVENT;
    lane->counts.lost += span->kind == CN_SPAN_LOST ? span->address : 0;
    lane->counts.without_begin += span->kind == CN_SPAN_END && !span->has_begin;
    lane->counts.arguments += cn_span_has_values(span);
    if (!is_call)
        return;
    /* The order of events counts, and a clock may jump: times never go back. */
    if (cn_lane_since_ns(lane, span->time_ns) > calls->last_ns)
        calls->last_ns = cn_lane_since_ns(lane, span->time_ns);
    cn_text_str_add(&lane->text, calls->event_count++ > 0 ? ",\n" : "\n");
    cn_text_str_add(&lane->text, span->kind == CN_SPAN_BEGIN
                                     ? "{\"type\":\"O\",\"frame\":"
                                     : "{\"type\":\"C\",\"frame\":");
    to = cn_text_room(&lane->text, 2 * CN_DIGITS_MAX + 8);
    len = cn_digits_put(to, frame_of(calls, lane->x->query->rec, span));
    memcpy(to + len, ",\"at\":", 6);
    len += 6;
    len += cn_digits_put(to + len, calls->last_ns);
    to[len++] = '}';
    cn_text_advance(&lane->text, len);
}

static bool write_events(struct cn_export *x, struct cn_error *err)
{
    static const struct cn_lane_ops ops = {
        .begin = begin_lane, .visit = visit, .end = end_lane, .is_apart = true};
    const struct cn_recording *rec = x->query->rec;
    struct calls calls = {0}, *shared = &calls;
    struct cn_lane_counts counts;
    bool ok;

    add_header(x, cn_export_program(rec));
    ok = cn_export_lanes(x, &ops, &shared, &counts, err);
    cn_text_str_add(&x->text, "],\n\"shared\":{\"frames\":[");
    for (size_t i = 0; i < calls.count && ok; i++) {
        uint32_t id = calls.ids_in_order[i];
        uint64_t address = cn_call_ids_address(&calls.ids, rec, id);
        bool is_function = id < rec->function_count;
        char buffer[CN_CALL_NAME_MAX];

        add_frame(&x->text, i == 0,
                  cn_call_name(rec, address ? CN_NONE : id, address, buffer),
                  is_function ? rec->functions[id].file : "",
                  is_function ? rec->functions[id].line : 0);
        ok = cn_export_flush(x, err);
    }
    cn_text_str_add(&x->text, "]}}\n");
    if (ok)
        cn_export_lose_counts(x, &counts, false, false);
    cn_call_ids_done(&calls.ids);
    cn_map_done(&calls.number_of);
    free(calls.ids_in_order);
    return ok;
}

static void add_stack(struct cn_text *text, const struct cn_stacks *stacks, uint32_t node,
                      uint32_t *path)
{
    uint32_t depth = stacks->nodes[node].depth;
    const char *separator = "[";

    for (uint32_t at = node, i = depth + 1; i-- > 0; at = stacks->nodes[at].parent)
        path[i] = stacks->nodes[at].place;
    for (uint32_t i = 0; i <= depth; i++) {
        cn_text_str_add(text, separator);
        cn_text_u64(text, path[i]);
        separator = ",";
    }
    cn_text_char(text, ']');
}

static bool is_spent(const struct cn_stack_node *node)
{
    return !node->is_root && cn_stack_value(node->self) > 0;
}

/* The weights of a profile, one for each stack; the stacks themselves come first. */
static bool add_weights(struct cn_export *x, const struct cn_stacks *stacks,
                        struct cn_error *err)
{
    uint64_t total = 0;
    const char *separator = "";
    bool ok = true;

    cn_text_str_add(&x->text, "],\n\"weights\":[");
    for (size_t i = 0; i < stacks->count && ok; i++) {
        uint64_t value = cn_stack_value(stacks->nodes[i].self);

        if (!is_spent(&stacks->nodes[i]))
            continue;
        cn_text_str_add(&x->text, separator);
        cn_text_u64(&x->text, value);
        total += value;
        separator = ",";
        ok = cn_export_flush(x, err);
    }
    cn_text_printf(&x->text, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", total);
    return ok;
}

static bool add_profile(struct cn_export *x, const struct cn_stacks *stacks,
                        const char *name, uint32_t *path, struct cn_error *err)
{
    const char *separator = "\n";
    bool ok = true;

    cn_text_str_add(&x->text, "{\"type\":\"sampled\",\"name\":");
    cn_json_quote(&x->text, name);
    cn_text_printf(&x->text, ",\"unit\":\"%s\",\"samples\":[",
                   stacks->scale == 1 ? "none" : "nanoseconds");
    for (uint32_t i = 0; i < stacks->count && ok; i++) {
        if (!is_spent(&stacks->nodes[i]))
            continue;
        cn_text_str_add(&x->text, separator);
        add_stack(&x->text, stacks, i, path);
        separator = ",\n";
        ok = cn_export_flush(x, err);
    }
    return ok && add_weights(x, stacks, err);
}

static bool add_threads(struct cn_export *x, struct cn_stacks *stacks, uint32_t *path,
                        struct cn_error *err)
{
    struct cn_database *db = x->db;
    struct cn_text name = {0};
    bool ok = true, is_any = false;

    for (uint32_t i = 1; i < db->profile_count && ok; i++) {
        struct cn_profile about;

        ok = cn_database_profile(db, i, &about, err);
        if (!ok || about.is_summary)
            continue;
        cn_text_clear(&name);
        cn_identity_print(&about.identity, &db->kinds, &name);
        cn_text_str_add(&x->text, is_any ? ",\n" : "\n");
        ok = cn_stacks_load(stacks, db, i, err) &&
             add_profile(x, stacks, cn_text_str(&name), path, err);
        is_any = true;
    }
    if (ok && !is_any)
        ok = add_profile(x, stacks, "all threads", path, err);
    cn_text_done(&name);
    return ok;
}

static bool write_samples(struct cn_export *x, struct cn_error *err)
{
    struct cn_stacks stacks;
    uint32_t *path;
    bool ok;

    if (!cn_stacks_of_database(&stacks, x->db, x->options->metric, err))
        return false;
    path = cn_alloc(stacks.frames.depth_max + 2u, sizeof(*path));
    add_header(x, x->db->title);
    ok = cn_stacks_lose(&stacks, x, true, err) && add_threads(x, &stacks, path, err);
    cn_text_str_add(&x->text, "],\n\"shared\":{\"frames\":[");
    for (size_t i = 0; i < stacks.place_count && ok; i++) {
        add_frame(&x->text, i == 0, stacks.places[i].name, stacks.places[i].file,
                  stacks.places[i].line);
        ok = cn_export_flush(x, err);
    }
    cn_text_str_add(&x->text, "]}}\n");
    free(path);
    cn_stacks_done(&stacks);
    return ok;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_events, false, err);
}

static bool write_database(struct cn_database *db, const char *path,
                           const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_database(db, path, options, write_samples, false, err);
}

const struct cn_format cn_format_speedscope = {
    .name = "speedscope",
    .summary = "JSON of speedscope: every call of a recording, stacks of each thread of "
               "a database",
    .holds = "calls or stacks",
    .is_file = true,
    .probe = cn_speedscope_probe,
    .open_database = cn_speedscope_open,
    .write_calls = write_calls,
    .write_database = write_database,
};
