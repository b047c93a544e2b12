#include "store/write/ingest_files.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/run/earliest.h"
#include "base/run/pool.h"
#include "formats/exchange/traces/span_set.h"
#include "formats/zorka/body.h"
#include "store/write/ingest.h"
#include "store/write/ingest_input.h"
#include "store/write/lanes.h"

/* Limits of what is gathered, for each lane and in all. Parsed spans take several times the bytes
 * of their body. */
enum {
    LEN_MAX = 32 << 20,
    SPANS_LEN_MAX = 8 << 20,
    ITEMS_MAX = 1 << 16,
    INPUTS_MAX = 4096, /* all of them are mapped */
};

/* The traces of a body of spans. */
struct parsed {
    struct cn_span_set set;
    struct cn_trace *traces;
    size_t count, capacity;
    bool has_failed; /* after these traces */
    struct cn_error err;
};

struct item {
    struct cn_ingest_item item;
    const struct cn_ingest_input *input;
    unsigned lane;
    bool has_symbols;
    struct parsed *parsed; /* spans only */
};

struct lane {
    struct cn_store_ingest *ingest;
    size_t failed_at; /* SIZE_MAX: no item */
    struct cn_error err;
};

struct cn_ingest_files {
    unsigned count;
    struct lane lanes[CN_STORE_LANES_MAX];
    struct cn_ingest_input **inputs;
    size_t input_count, input_capacity;
    struct item *items;
    size_t item_count, item_capacity;
    uint64_t len, spans_len;
    struct cn_earliest failed;
};

struct cn_ingest_files *cn_ingest_files_new(struct cn_store_lanes *lanes, unsigned count)
{
    struct cn_ingest_files *files = cn_alloc(1, sizeof(*files));

    files->count = count;
    for (unsigned i = 0; i < count; i++)
        files->lanes[i].ingest = cn_store_ingest_new(cn_store_lane(lanes, i));
    return files;
}

static void free_parsed(struct parsed *parsed)
{
    for (size_t i = 0; parsed && i < parsed->count; i++)
        cn_trace_done(&parsed->traces[i]);
    if (parsed) {
        free(parsed->traces);
        cn_span_set_done(&parsed->set);
    }
    free(parsed);
}

static void clear_items(struct cn_ingest_files *files)
{
    for (size_t i = 0; i < files->item_count; i++)
        free_parsed(files->items[i].parsed);
    files->item_count = 0;
    files->len = files->spans_len = 0;
}

static void clear_inputs(struct cn_ingest_files *files)
{
    for (size_t i = 0; i < files->input_count; i++) {
        cn_ingest_input_close(files->inputs[i]);
        free(files->inputs[i]);
    }
    files->input_count = 0;
}

void cn_ingest_files_free(struct cn_ingest_files *files)
{
    if (!files)
        return;
    clear_items(files);
    clear_inputs(files);
    for (unsigned i = 0; i < files->count; i++)
        cn_store_ingest_free(files->lanes[i].ingest);
    free(files->inputs);
    free(files->items);
    free(files);
}

static struct parsed *parse(struct cn_bytes body)
{
    struct parsed *parsed = cn_alloc(1, sizeof(*parsed));
    enum cn_step step = CN_FAIL;

    if (cn_span_set_read(&parsed->set, body, &parsed->err)) {
        do {
            struct cn_trace trace = {0};

            step = cn_span_set_next(&parsed->set, &trace, &parsed->err);
            if (step != CN_ITEM) {
                cn_trace_done(&trace);
                break;
            }
            parsed->traces = cn_grow(parsed->traces, parsed->count, &parsed->capacity,
                                     sizeof(*parsed->traces));
            parsed->traces[parsed->count++] = trace;
        } while (true);
    }
    parsed->has_failed = step == CN_FAIL;
    return parsed;
}

/* Without an id, a trace gets that of its bytes. */
static unsigned lane_of(const struct cn_zorka_request *request, unsigned count)
{
    return request->has_trace_id
               ? cn_store_lane_of_trace(request->id_high, request->id_low, count)
               : (unsigned)(XXH3_64bits(request->body.ptr, request->body.len) % count);
}

static void look_at(struct item *item, unsigned count)
{
    const struct cn_zorka_request *request = &item->item.request;

    if (item->item.is_spans) {
        item->parsed = parse(request->body);
    } else if (count > 1) {
        item->lane = lane_of(request, count);
        item->has_symbols = cn_zorka_body_has_symbols(request->body);
    }
}

static void look_job(void *arg, size_t job, unsigned worker)
{
    struct cn_ingest_files *files = arg;

    (void)worker;
    look_at(&files->items[job], files->count);
}

/* The traces of spans that are of this lane. All lanes report a damaged body. */
static bool add_spans(struct cn_ingest_files *files, unsigned lane,
                      const struct parsed *parsed, struct cn_error *err)
{
    for (size_t i = 0; i < parsed->count; i++) {
        const struct cn_trace *trace = &parsed->traces[i];

        if (cn_store_lane_of_trace(trace->id_high, trace->id_low, files->count) == lane &&
            !cn_store_ingest_trace(files->lanes[lane].ingest, trace, err))
            return false;
    }
    if (!parsed->has_failed)
        return true;
    *err = parsed->err;
    return false;
}

static bool add_item(struct cn_ingest_files *files, unsigned lane,
                     const struct item *item, struct cn_error *err)
{
    struct cn_store_ingest *ingest = files->lanes[lane].ingest;

    if (item->parsed)
        return add_spans(files, lane, item->parsed, err);
    if (item->lane == lane)
        return cn_store_ingest_request(ingest, &item->item.request, err);
    cn_store_ingest_learn(ingest, &item->item.request, item->has_symbols);
    return true;
}

static void lane_job(void *arg, size_t job, unsigned worker)
{
    struct cn_ingest_files *files = arg;
    struct lane *lane = &files->lanes[job];

    (void)worker;
    lane->failed_at = SIZE_MAX;
    for (size_t i = 0; i < files->item_count; i++) {
        if (i > cn_earliest_position(&files->failed))
            return;
        if (!add_item(files, (unsigned)job, &files->items[i], &lane->err)) {
            lane->failed_at = i;
            cn_earliest_note(&files->failed, i);
            return;
        }
    }
}

/* The failure of the earliest item. */
static bool check_lanes(const struct cn_ingest_files *files, struct cn_error *err)
{
    const struct lane *first = &files->lanes[0];
    const struct item *item;

    for (unsigned i = 1; i < files->count; i++)
        if (files->lanes[i].failed_at < first->failed_at)
            first = &files->lanes[i];
    if (first->failed_at == SIZE_MAX)
        return true;
    item = &files->items[first->failed_at];
    *err = first->err;
    return cn_ingest_fail_in(item->input, &item->item, err);
}

/* Add all gathered items. */
static bool run(struct cn_ingest_files *files, struct cn_error *err)
{
    struct cn_jobs look = {.count = files->item_count, .arg = files, .run = look_job};
    struct cn_jobs add = {.count = files->count, .arg = files, .run = lane_job};
    bool ok;

    cn_earliest_init(&files->failed);
    cn_pool_run(&look, files->count);
    cn_pool_run(&add, files->count);
    ok = check_lanes(files, err);
    clear_items(files);
    return ok;
}

static bool is_full(const struct cn_ingest_files *files)
{
    return files->len > (uint64_t)LEN_MAX * files->count ||
           files->spans_len > (uint64_t)SPANS_LEN_MAX * files->count ||
           files->item_count >= ITEMS_MAX;
}

static void gather(struct cn_ingest_files *files, const struct cn_ingest_input *input,
                   const struct cn_ingest_item *item)
{
    uint64_t len = item->request.body.len;

    files->items = cn_grow(files->items, files->item_count, &files->item_capacity,
                           sizeof(*files->items));
    files->items[files->item_count++] = (struct item){.item = *item, .input = input};
    files->len += len;
    files->spans_len += item->is_spans ? len : 0;
}

/* What was gathered before a failure is added; if that fails, it failed earlier. */
static bool fail_after(struct cn_ingest_files *files, const struct cn_error *failure,
                       struct cn_error *err)
{
    if (run(files, err))
        *err = *failure;
    return false;
}

bool cn_ingest_files_add(struct cn_ingest_files *files, const char *path,
                         struct cn_error *err)
{
    struct cn_ingest_input *input = cn_alloc(1, sizeof(*input));
    struct cn_ingest_item item;
    struct cn_error failure;
    enum cn_step step;

    if (!cn_ingest_input_open(input, path, &failure)) {
        free(input);
        return fail_after(files, &failure, err);
    }
    files->inputs = cn_grow(files->inputs, files->input_count, &files->input_capacity,
                            sizeof(*files->inputs));
    files->inputs[files->input_count++] = input;
    while ((step = cn_ingest_input_next(input, &item, &failure)) == CN_ITEM) {
        gather(files, input, &item);
        if (is_full(files) && !run(files, err))
            return false;
    }
    if (step == CN_FAIL)
        return fail_after(files, &failure, err);
    return files->input_count < INPUTS_MAX || cn_ingest_files_end(files, err);
}

bool cn_ingest_files_end(struct cn_ingest_files *files, struct cn_error *err)
{
    bool ok = run(files, err);

    clear_inputs(files);
    return ok;
}

struct cn_store_added cn_ingest_files_added(const struct cn_ingest_files *files)
{
    struct cn_store_added sum = {0};

    for (unsigned i = 0; i < files->count; i++) {
        struct cn_store_added added =
            cn_store_ingest_counts(files->lanes[i].ingest).added;

        sum.traces += added.traces;
        sum.records += added.records;
        sum.known += added.known;
    }
    return sum;
}
