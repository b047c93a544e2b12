#include "formats/exchange/write/stacks/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/files/sink.h"
#include "base/text.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/pprof_format.h"

struct diff_writer {
    const struct cn_comparison *c;
    struct cn_sink sink;
    double scale; /* from the metric to whole numbers: nanoseconds */
    bool is_time;
};

/* The self cost of a node in whole units. */
static int64_t value_of(const struct diff_writer *w, enum cn_side side, uint32_t node)
{
    return llround(w->c->self[side][node] * w->scale);
}

/* The call path of a node, outermost first, without the entry point: a list of nodes. */
static size_t list_path(const struct cn_comparison *c, uint32_t node, uint32_t **path,
                        size_t *capacity)
{
    size_t count = 0;

    for (uint32_t at = node; at != CN_NONE && !cn_comparison_is_entry(c, at);
         at = c->nodes[at].parent) {
        CN_GROW(*path, count, *capacity);
        (*path)[count++] = at;
    }
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t other = (*path)[i];

        (*path)[i] = (*path)[count - 1 - i];
        (*path)[count - 1 - i] = other;
    }
    return count;
}

/* As in folded stacks: ';' is written as ':', control characters as \xHH. */
static void add_name(struct cn_text *text, const struct cn_comparison *c, uint32_t node)
{
    struct cn_text label = {0};
    size_t at = text->len;

    cn_comparison_label_add(&label, c, node);
    cn_utf8_add_printable(text, cn_text_str(&label));
    for (size_t k = at; k < text->len; k++)
        if (text->chars[k] == ';')
            text->chars[k] = ':';
    cn_text_done(&label);
}

static bool write_folded(struct diff_writer *w, struct cn_error *err)
{
    const struct cn_comparison *c = w->c;
    struct cn_text text = {0};
    uint32_t *path = NULL;
    size_t capacity = 0;
    bool ok = true;

    for (size_t i = 0; i < c->order_count && ok; i++) {
        int64_t a = value_of(w, CN_SIDE_A, c->order[i]);
        int64_t b = value_of(w, CN_SIDE_B, c->order[i]);

        if (a == 0 && b == 0)
            continue;
        size_t count = list_path(c, c->order[i], &path, &capacity);
        for (size_t k = 0; k < count; k++) {
            if (k > 0)
                cn_text_char(&text, ';');
            add_name(&text, c, path[k]);
        }
        if (count == 0)
            add_name(&text, c, c->order[i]);
        cn_text_printf(&text, " %lld %lld\n", (long long)a, (long long)b);
        ok = cn_sink_text_some(&w->sink, &text, err);
    }
    ok = ok && cn_sink_text(&w->sink, &text, err);
    free(path);
    cn_text_done(&text);
    return ok;
}

struct diff_profile {
    struct cn_pb pb;
    struct cn_names strings, locations;
};

static uint64_t string_id(struct diff_profile *p, const char *str)
{
    return cn_names_add(&p->strings, str);
}

/* A function has one location: both have the same id. */
static uint64_t location_id(struct diff_profile *p, const struct cn_comparison *c,
                            uint32_t node)
{
    struct cn_text label = {0};
    size_t before = p->locations.count, at, inner;

    cn_comparison_label_add(&label, c, node);
    uint64_t id = cn_names_add(&p->locations, cn_text_str(&label)) + 1U;
    uint64_t name = string_id(p, cn_text_str(&label));
    cn_text_done(&label);
    if (p->locations.count == before)
        return id;
    at = cn_pb_open(&p->pb, cn_pprof_profile_function);
    cn_pb_u64(&p->pb, cn_pprof_function_id, id);
    cn_pb_u64(&p->pb, cn_pprof_function_name, name);
    cn_pb_u64(&p->pb, cn_pprof_function_system_name, name);
    cn_pb_close(&p->pb, at);
    at = cn_pb_open(&p->pb, cn_pprof_profile_location);
    cn_pb_u64(&p->pb, cn_pprof_location_id, id);
    inner = cn_pb_open(&p->pb, cn_pprof_location_line);
    cn_pb_u64(&p->pb, cn_pprof_line_function_id, id);
    cn_pb_close(&p->pb, inner);
    cn_pb_close(&p->pb, at);
    return id;
}

/* The sample of a node on one side; that of A is negative. */
static void add_sample(struct diff_writer *w, struct diff_profile *p, enum cn_side side,
                       uint32_t node, const uint64_t *locations, size_t count)
{
    int64_t value = value_of(w, side, node);
    uint64_t bits = (uint64_t)(side == CN_SIDE_A ? -value : value);
    size_t at, label;

    if (value == 0)
        return;
    at = cn_pb_open(&p->pb, cn_pprof_profile_sample);
    cn_pb_packed(&p->pb, cn_pprof_sample_location_id, locations, count);
    cn_pb_packed(&p->pb, cn_pprof_sample_value, &bits, 1);
    if (side == CN_SIDE_A) {
        label = cn_pb_open(&p->pb, cn_pprof_sample_label);
        cn_pb_u64(&p->pb, cn_pprof_label_key, string_id(p, "pprof::base"));
        cn_pb_u64(&p->pb, cn_pprof_label_str, string_id(p, "true"));
        cn_pb_close(&p->pb, label);
    }
    cn_pb_close(&p->pb, at);
}

static void add_samples(struct diff_writer *w, struct diff_profile *p)
{
    const struct cn_comparison *c = w->c;
    uint32_t *path = NULL;
    uint64_t *locations = NULL;
    size_t capacity = 0, location_capacity = 0;

    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i];
        size_t count;

        if (value_of(w, CN_SIDE_A, node) == 0 && value_of(w, CN_SIDE_B, node) == 0)
            continue;
        count = list_path(c, node, &path, &capacity);
        CN_GROW_TO(locations, count + 1, location_capacity);
        for (size_t k = 0; k < count; k++)
            locations[count - 1 - k] = location_id(p, c, path[k]);
        if (count == 0)
            locations[count++] = location_id(p, c, node);
        for (int side = 0; side < CN_SIDES; side++)
            add_sample(w, p, (enum cn_side)side, node, locations, count);
    }
    free(path);
    free(locations);
}

static bool write_pprof(struct diff_writer *w, struct cn_error *err)
{
    struct diff_profile p = {0};
    struct cn_text type = {0};
    size_t len = strlen(w->c->metric), at;

    cn_text_add(&type, w->c->metric, w->is_time ? len - strlen(" (sec)") : len);
    (void)string_id(&p, "");
    at = cn_pb_open(&p.pb, cn_pprof_profile_sample_type);
    cn_pb_u64(&p.pb, cn_pprof_value_type_type, string_id(&p, cn_text_str(&type)));
    cn_pb_u64(&p.pb, cn_pprof_value_type_unit,
              string_id(&p, w->is_time ? "nanoseconds" : "count"));
    cn_pb_close(&p.pb, at);
    add_samples(w, &p);
    for (size_t i = 0; i < p.strings.count; i++)
        cn_pb_str(&p.pb, cn_pprof_profile_string_table, p.strings.list[i]);
    bool ok = cn_sink_write(&w->sink, p.pb.bytes, p.pb.len, err);
    cn_names_done(&p.strings);
    cn_names_done(&p.locations);
    cn_pb_done(&p.pb);
    cn_text_done(&type);
    return ok;
}

bool cn_diff_stacks_has(const struct cn_format *format)
{
    return format == &cn_format_folded || format == &cn_format_pprof;
}

bool cn_diff_stacks_write(const struct cn_comparison *c, const struct cn_format *format,
                          const char *path, bool replace, struct cn_error *err)
{
    size_t len = strlen(c->metric);
    bool is_time = len > 6 && strcmp(c->metric + len - 6, " (sec)") == 0;
    bool is_pprof = format == &cn_format_pprof;
    struct diff_writer w = {.c = c, .is_time = is_time, .scale = is_time ? 1e9 : 1};
    bool ok = is_pprof && cn_sink_plain_len(path) == strlen(path)
                  ? cn_sink_open_gzip(&w.sink, path, replace, err)
                  : cn_sink_open(&w.sink, path, replace, err);

    ok = ok && (is_pprof ? write_pprof(&w, err) : write_folded(&w, err)) &&
         cn_sink_commit(&w.sink, err);
    if (!ok)
        cn_sink_abandon(&w.sink);
    return ok;
}
