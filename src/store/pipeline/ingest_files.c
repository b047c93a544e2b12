#include "store/write/ingest_files.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/run/earliest.h"
#include "base/run/pool.h"
#include "formats/exchange/read/traces/span_set.h"
#include "formats/zorka/body.h"
#include "store/write/ingest.h"
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
    struct cn_trace *traces; /* which borrow from the set */
    size_t count, capacity;
    bool has_failed; /* after these traces */
    struct cn_error err;
};

struct ingest_item {
    struct cn_ingest_item item;
    const struct cn_ingest_input *input;
    unsigned lane;
    bool has_symbols;
    struct parsed *parsed; /* spans only */
};

struct ingest_lane {
    struct cn_store_ingest *ingest;
    size_t failed_at; /* SIZE_MAX: no item */
    struct cn_error err;
};

/* What is added together. */
struct ingest_batch {
    struct ingest_item *items;
    size_t item_count, item_capacity;
    struct cn_ingest_input **inputs; /* that end here */
    size_t input_count, input_capacity;
    uint64_t len, spans_len;
    bool has_failed; /* after these items */
    struct cn_error err;
};

struct files {
    unsigned count;
    struct ingest_lane lanes[CN_STORE_LANES_MAX];
    const char *const *paths;
    size_t path_count, next_path;
    struct cn_ingest_input *input; /* being read; or NULL */
    struct ingest_batch batches[2], *now, *next;
    struct cn_earliest failed; /* item of `now` */
};

static void free_parsed(struct parsed *parsed)
{
    if (parsed) {
        free(parsed->traces);
        cn_span_set_done(&parsed->set);
    }
    free(parsed);
}

static void free_input(struct cn_ingest_input *input)
{
    if (input)
        cn_ingest_input_close(input);
    free(input);
}

static void clear(struct ingest_batch *batch)
{
    for (size_t i = 0; i < batch->item_count; i++)
        free_parsed(batch->items[i].parsed);
    for (size_t i = 0; i < batch->input_count; i++)
        free_input(batch->inputs[i]);
    batch->item_count = batch->input_count = 0;
    batch->len = batch->spans_len = 0;
}

static bool is_full(const struct files *files, const struct ingest_batch *batch)
{
    return batch->len > (uint64_t)LEN_MAX * files->count ||
           batch->spans_len > (uint64_t)SPANS_LEN_MAX * files->count ||
           batch->item_count >= ITEMS_MAX || batch->input_count >= INPUTS_MAX;
}

static void add_item_to(struct ingest_batch *batch, const struct cn_ingest_input *input,
                        const struct cn_ingest_item *item)
{
    uint64_t len = item->request.body.len;

    CN_PUSH(batch->items, batch->item_count, batch->item_capacity,
            (struct ingest_item){.item = *item, .input = input});
    batch->len += len;
    batch->spans_len += item->is_spans ? len : 0;
}

static void end_input(struct files *files, struct ingest_batch *batch)
{
    CN_PUSH(batch->inputs, batch->input_count, batch->input_capacity, files->input);
    files->input = NULL;
}

/* Take requests off the files until the batch is full or has all of them. */
static void gather(struct files *files, struct ingest_batch *batch)
{
    struct cn_ingest_item item;

    while (!batch->has_failed && !is_full(files, batch)) {
        if (!files->input) {
            if (files->next_path == files->path_count)
                return;
            files->input = cn_alloc(1, sizeof(*files->input));
            if (!cn_ingest_input_open(files->input, files->paths[files->next_path++],
                                      &batch->err)) {
                batch->has_failed = true;
                free(files->input);
                files->input = NULL;
                return;
            }
        }
        enum cn_step step = cn_ingest_input_next(files->input, &item, &batch->err);
        if (step == CN_ITEM) {
            add_item_to(batch, files->input, &item);
            continue;
        }
        batch->has_failed = step == CN_FAIL;
        end_input(files, batch);
    }
}

static struct parsed *parse(struct cn_bytes body)
{
    struct parsed *parsed = cn_alloc(1, sizeof(*parsed));
    enum cn_step step = CN_FAIL;

    if (cn_span_set_read(&parsed->set, body, &parsed->err)) {
        struct cn_trace trace;

        while ((step = cn_span_set_next(&parsed->set, &trace, &parsed->err)) == CN_ITEM)
            CN_PUSH(parsed->traces, parsed->count, parsed->capacity, trace);
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

static void look_at(struct ingest_item *item, unsigned count)
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
    struct files *files = arg;

    (void)worker;
    look_at(&files->now->items[job], files->count);
}

/* The traces of spans that are of this lane. All lanes report a damaged body. */
static bool add_spans(struct files *files, unsigned lane, const struct parsed *parsed,
                      struct cn_error *err)
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

static bool add_item(struct files *files, unsigned lane, const struct ingest_item *item,
                     struct cn_error *err)
{
    struct cn_store_ingest *ingest = files->lanes[lane].ingest;

    if (item->parsed)
        return add_spans(files, lane, item->parsed, err);
    if (item->lane == lane)
        return cn_store_ingest_request(ingest, &item->item.request, err);
    cn_store_ingest_learn(ingest, &item->item.request, item->has_symbols);
    return true;
}

static void run_lane(struct files *files, unsigned number)
{
    struct ingest_lane *lane = &files->lanes[number];
    const struct ingest_batch *batch = files->now;

    lane->failed_at = SIZE_MAX;
    for (size_t i = 0; i < batch->item_count; i++) {
        if (i > cn_earliest_position(&files->failed))
            return;
        if (!add_item(files, number, &batch->items[i], &lane->err)) {
            lane->failed_at = i;
            cn_earliest_note(&files->failed, i);
            return;
        }
    }
}

static void add_job(void *arg, size_t job, unsigned worker)
{
    struct files *files = arg;

    (void)worker;
    if (job < files->count)
        run_lane(files, (unsigned)job);
    else if (!files->now->has_failed)
        gather(files, files->next);
}

/* The failure of the earliest item, or that of the batch. */
static bool check_lanes(const struct files *files, struct cn_error *err)
{
    const struct ingest_lane *first = &files->lanes[0];

    for (unsigned i = 1; i < files->count; i++)
        if (files->lanes[i].failed_at < first->failed_at)
            first = &files->lanes[i];
    if (first->failed_at == SIZE_MAX) {
        if (files->now->has_failed)
            *err = files->now->err;
        return !files->now->has_failed;
    }
    const struct ingest_item *item = &files->now->items[first->failed_at];
    *err = first->err;
    return cn_ingest_fail_in(item->input, &item->item, err);
}

/* Add one batch and gather the next one. */
static bool add_batch(struct files *files, struct cn_error *err)
{
    struct cn_jobs look = {
        .count = files->now->item_count, .arg = files, .run = look_job};
    struct cn_jobs add = {.count = files->count + 1, .arg = files, .run = add_job};
    struct ingest_batch *done = files->now;

    cn_earliest_init(&files->failed);
    cn_pool_run(&look, files->count);
    cn_pool_run(&add, files->count + 1);
    bool ok = check_lanes(files, err);
    clear(done);
    files->now = files->next;
    files->next = done;
    return ok;
}

static bool is_done(const struct files *files)
{
    return files->next_path == files->path_count && !files->input &&
           files->now->item_count == 0 && !files->now->has_failed;
}

static struct cn_store_added count_added(const struct files *files)
{
    struct cn_store_added sum = {0};

    for (unsigned i = 0; i < files->count; i++) {
        struct cn_store_added added =
            cn_store_ingest_counts(files->lanes[i].ingest).added;

        sum.traces += added.traces;
        sum.parts += added.parts;
        sum.records += added.records;
        sum.known += added.known;
        sum.redacted += added.redacted;
    }
    return sum;
}

static void free_files(struct files *files)
{
    for (int i = 0; i < 2; i++) {
        clear(&files->batches[i]);
        free(files->batches[i].items);
        free(files->batches[i].inputs);
    }
    for (unsigned i = 0; i < files->count; i++)
        cn_store_ingest_free(files->lanes[i].ingest);
    free_input(files->input);
    free(files);
}

bool cn_store_ingest_files(struct cn_store_lanes *lanes, unsigned lane_count,
                           const char *const *paths, size_t path_count,
                           struct cn_store_added *added, struct cn_error *err)
{
    struct files *files = cn_alloc(1, sizeof(*files));
    bool ok;

    files->count = lane_count;
    files->paths = paths;
    files->path_count = path_count;
    files->now = &files->batches[0];
    files->next = &files->batches[1];
    for (unsigned i = 0; i < lane_count; i++)
        files->lanes[i].ingest = cn_store_ingest_new(cn_store_lane(lanes, i));
    gather(files, files->now);
    do {
        ok = add_batch(files, err);
    } while (ok && !is_done(files));
    *added = count_added(files);
    free_files(files);
    return ok;
}
