#include "store/pipeline/ingest_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/run/earliest.h"
#include "base/run/pool.h"
#include "formats/exchange/read/traces/span_set.h"
#include "formats/zorka/body.h"
#include "store/write/ingest.h"
#include "store/write/lanes.h"

/* Limits of a batch, and of the spans in all batches for each lane. Parsed spans take several times
 * the bytes of their body. */
enum {
    LEN_MAX = 1 << 20,
    SPANS_LEN_MAX = 8 << 20,
    ITEMS_MAX = 1 << 16,
    INPUTS_MAX = 128, /* all of them are mapped */
};

/* The traces of a body of spans. Used for one body after the other: large arrays that are released
 * and requested again by all threads cost more than parsing. */
struct parsed {
    struct cn_span_set set;
    struct cn_trace *traces; /* which borrow from the set */
    size_t count, capacity;
    bool has_failed; /* after these traces */
    struct cn_error err;
    struct parsed *next_free;
};

struct ingest_item {
    struct cn_ingest_item item;
    const struct cn_ingest_input *input;
    unsigned lane;
    bool has_symbols;
    struct parsed *parsed; /* spans only */
};

/* Requests that follow each other: gathered by one worker, looked at by the same one, then added by
 * each lane, in order. */
struct ingest_batch {
    struct ingest_item *items;
    size_t item_count, item_capacity;
    struct cn_ingest_input **inputs; /* that end here */
    size_t input_count, input_capacity;
    uint64_t len, spans_len;
    bool is_ready;       /* it was looked at */
    unsigned lanes_left; /* that have not added their traces */
};

/* Where adding ends: every request before this one is added. */
struct ingest_failure {
    size_t position; /* of the request; SIZE_MAX: none */
    struct cn_error err;
};

struct ingest_lane {
    struct cn_store_ingest *ingest;
    struct ingest_failure failure;
    uint64_t next; /* number of the batch that it adds, or is about to */
    bool is_busy;
};

struct files {
    unsigned count;
    struct cn_earliest failed; /* position of the first request that failed */

    /* Under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct ingest_lane lanes[CN_STORE_LANES_MAX]; /* a busy one is its worker's */
    struct ingest_batch *batches;                 /* number N at N % batch_max */
    size_t batch_max;
    uint64_t first, next; /* batches that are in use */
    uint64_t spans_len;   /* of these */
    struct parsed *free_parsed;
    bool is_gathering, is_at_end;

    /* Of the worker that gathers. */
    const char *const *paths;
    size_t path_count, next_path;
    struct cn_ingest_input *input; /* being read; or NULL */
    struct ingest_failure failure;
};

static size_t position_of(uint64_t batch, size_t item)
{
    return (size_t)(batch * ITEMS_MAX + item);
}

static struct ingest_batch *batch_at(const struct files *files, uint64_t number)
{
    return &files->batches[number % files->batch_max];
}

static void fail_at(struct files *files, struct ingest_failure *failure, size_t position)
{
    failure->position = position;
    cn_earliest_note(&files->failed, position);
}

static void free_parsed(struct parsed *parsed)
{
    while (parsed) {
        struct parsed *next = parsed->next_free;

        free(parsed->traces);
        cn_span_set_done(&parsed->set);
        free(parsed);
        parsed = next;
    }
}

static void free_input(struct cn_ingest_input *input)
{
    if (input)
        cn_ingest_input_close(input);
    free(input);
}

/* With the lock held: the sets of its spans are used again. */
static void take_back_parsed(struct files *files, const struct ingest_batch *batch)
{
    for (size_t i = 0; i < batch->item_count; i++) {
        struct parsed *parsed = batch->items[i].parsed;

        if (!parsed)
            continue;
        parsed->next_free = files->free_parsed;
        files->free_parsed = parsed;
    }
}

static void clear(struct ingest_batch *batch)
{
    for (size_t i = 0; i < batch->input_count; i++)
        free_input(batch->inputs[i]);
    batch->item_count = batch->input_count = 0;
    batch->len = batch->spans_len = 0;
}

static bool is_full(const struct ingest_batch *batch)
{
    return batch->len > LEN_MAX || batch->item_count >= ITEMS_MAX ||
           batch->input_count >= INPUTS_MAX;
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

static bool open_next(struct files *files, struct cn_error *err)
{
    files->input = cn_alloc(1, sizeof(*files->input));
    if (cn_ingest_input_open(files->input, files->paths[files->next_path++], err))
        return true;
    free(files->input);
    files->input = NULL;
    return false;
}

/* Take requests off the files until the batch is full or has all of them. False at the end. */
static bool gather(struct files *files, uint64_t number)
{
    struct ingest_batch *batch = batch_at(files, number);
    struct cn_error *err = &files->failure.err;
    enum cn_step step = CN_ITEM;
    struct cn_ingest_item item;

    while (step != CN_FAIL && !is_full(batch)) {
        if (!files->input && files->next_path == files->path_count)
            return false;
        step = files->input || open_next(files, err)
                   ? cn_ingest_input_next(files->input, &item, err)
                   : CN_FAIL;
        if (step == CN_ITEM)
            add_item_to(batch, files->input, &item);
        else if (files->input)
            end_input(files, batch);
    }
    if (step == CN_FAIL)
        fail_at(files, &files->failure, position_of(number, batch->item_count));
    return step != CN_FAIL;
}

static struct parsed *take_parsed(struct files *files)
{
    (void)pthread_mutex_lock(&files->lock);
    struct parsed *parsed = files->free_parsed;
    if (parsed)
        files->free_parsed = parsed->next_free;
    (void)pthread_mutex_unlock(&files->lock);
    return parsed ? parsed : cn_alloc(1, sizeof(*parsed));
}

static struct parsed *parse(struct files *files, struct cn_bytes body)
{
    struct parsed *parsed = take_parsed(files);
    enum cn_step step = CN_FAIL;

    parsed->count = 0;
    cn_span_set_clear(&parsed->set);
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

static void look_at(struct files *files, struct ingest_item *item)
{
    const struct cn_zorka_request *request = &item->item.request;

    if (item->item.is_spans) {
        item->parsed = parse(files, request->body);
    } else if (files->count > 1) {
        item->lane = lane_of(request, files->count);
        item->has_symbols = cn_zorka_body_has_symbols(request->body);
    }
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

static void add_batch(struct files *files, unsigned number, uint64_t batch_number)
{
    struct ingest_lane *lane = &files->lanes[number];
    const struct ingest_batch *batch = batch_at(files, batch_number);

    for (size_t i = 0; i < batch->item_count; i++) {
        size_t position = position_of(batch_number, i);

        if (position > cn_earliest_position(&files->failed))
            return;
        if (add_item(files, number, &batch->items[i], &lane->failure.err))
            continue;
        (void)cn_ingest_fail_in(batch->items[i].input, &batch->items[i].item,
                                &lane->failure.err);
        fail_at(files, &lane->failure, position);
        return;
    }
}

/* With the lock held: the lane that is furthest behind, of those that can go on. */
static struct ingest_lane *find_lane(struct files *files)
{
    struct ingest_lane *found = NULL;

    for (unsigned i = 0; i < files->count; i++) {
        struct ingest_lane *lane = &files->lanes[i];

        if (!lane->is_busy && lane->next < files->next &&
            batch_at(files, lane->next)->is_ready && (!found || lane->next < found->next))
            found = lane;
    }
    return found;
}

/* With the lock held; released in between: unmapping files takes time. */
static void clear_done(struct files *files)
{
    while (files->first < files->next) {
        struct ingest_batch *batch = batch_at(files, files->first);

        if (!batch->is_ready || batch->lanes_left > 0)
            return;
        batch->is_ready = false;
        files->spans_len -= batch->spans_len;
        take_back_parsed(files, batch);
        (void)pthread_mutex_unlock(&files->lock);
        clear(batch);
        (void)pthread_mutex_lock(&files->lock);
        files->first++;
    }
}

/* With the lock held; released in between. */
static void run_lane(struct files *files, struct ingest_lane *lane)
{
    lane->is_busy = true;
    (void)pthread_mutex_unlock(&files->lock);
    add_batch(files, (unsigned)(lane - files->lanes), lane->next);
    (void)pthread_mutex_lock(&files->lock);
    lane->is_busy = false;
    batch_at(files, lane->next++)->lanes_left--;
    clear_done(files);
    (void)pthread_cond_broadcast(&files->changed);
}

static bool can_gather(const struct files *files)
{
    return !files->is_gathering && !files->is_at_end &&
           files->next - files->first < files->batch_max &&
           files->spans_len <= (uint64_t)SPANS_LEN_MAX * files->count;
}

/* With the lock held; released in between. */
static void make_batch(struct files *files)
{
    uint64_t number = files->next;
    struct ingest_batch *batch = batch_at(files, number);

    files->is_gathering = true;
    (void)pthread_mutex_unlock(&files->lock);
    bool goes_on = gather(files, number);
    (void)pthread_mutex_lock(&files->lock);
    files->is_gathering = false;
    files->is_at_end = !goes_on || cn_earliest_position(&files->failed) != SIZE_MAX;
    files->next++;
    files->spans_len += batch->spans_len;
    batch->lanes_left = files->count;
    (void)pthread_cond_broadcast(&files->changed);
    (void)pthread_mutex_unlock(&files->lock);
    for (size_t i = 0; i < batch->item_count; i++)
        look_at(files, &batch->items[i]);
    (void)pthread_mutex_lock(&files->lock);
    batch->is_ready = true;
    (void)pthread_cond_broadcast(&files->changed);
}

/* Adding comes first: it takes memory back. */
static void work(void *arg, size_t job, unsigned worker)
{
    struct files *files = arg;

    (void)job, (void)worker;
    (void)pthread_mutex_lock(&files->lock);
    while (!files->is_at_end || files->first < files->next) {
        struct ingest_lane *lane = find_lane(files);

        if (lane)
            run_lane(files, lane);
        else if (can_gather(files))
            make_batch(files);
        else
            (void)pthread_cond_wait(&files->changed, &files->lock);
    }
    (void)pthread_mutex_unlock(&files->lock);
}

/* The failure of the earliest request. */
static bool check_failures(const struct files *files, struct cn_error *err)
{
    const struct ingest_failure *first = &files->failure;

    for (unsigned i = 0; i < files->count; i++)
        if (files->lanes[i].failure.position < first->position)
            first = &files->lanes[i].failure;
    if (first->position != SIZE_MAX)
        *err = first->err;
    return first->position == SIZE_MAX;
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
    for (size_t i = 0; i < files->batch_max; i++) {
        free(files->batches[i].items);
        free(files->batches[i].inputs);
    }
    free(files->batches);
    free_parsed(files->free_parsed);
    for (unsigned i = 0; i < files->count; i++)
        cn_store_ingest_free(files->lanes[i].ingest);
    free_input(files->input);
    (void)pthread_cond_destroy(&files->changed);
    (void)pthread_mutex_destroy(&files->lock);
    free(files);
}

bool cn_store_ingest_files(struct cn_store_lanes *lanes, unsigned lane_count,
                           const char *const *paths, size_t path_count,
                           struct cn_store_added *added, struct cn_error *err)
{
    struct files *files = cn_alloc(1, sizeof(*files));
    struct cn_jobs workers = {.count = lane_count, .arg = files, .run = work};

    files->count = lane_count;
    files->paths = paths;
    files->path_count = path_count;
    files->batch_max = 2 * (size_t)lane_count + 2;
    files->batches = cn_alloc(files->batch_max, sizeof(*files->batches));
    files->failure.position = SIZE_MAX;
    cn_earliest_init(&files->failed);
    (void)pthread_mutex_init(&files->lock, NULL);
    (void)pthread_cond_init(&files->changed, NULL);
    for (unsigned i = 0; i < lane_count; i++) {
        files->lanes[i].ingest = cn_store_ingest_new(cn_store_lane(lanes, i));
        files->lanes[i].failure.position = SIZE_MAX;
    }
    cn_pool_run(&workers, lane_count);
    bool ok = check_failures(files, err);
    *added = count_added(files);
    free_files(files);
    return ok;
}
