#include "store/pipeline/collector.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/map.h"
#include "base/run/clock.h"
#include "base/run/job.h"
#include "base/run/pool.h"
#include "store/maintenance/replica.h"
#include "store/pipeline/options.h"
#include "store/segment/commit.h"
#include "store/segment/seal.h"
#include "store/segment/segments.h"
#include "store/write/ingest.h"
#include "store/write/lanes.h"
#include "store/write/writer.h"

enum {
    TURN_MAX = 16,            /* requests read before the saver is checked again */
    COMMIT_LEN_MAX = 8 << 20, /* bytes; a longer commit waits for the one before it */
};

static const uint64_t retry_ns = 1000000000; /* before a store that failed is reopened */

/* A request that is not answered yet. */
struct collector_entry {
    enum cn_collector_kind kind;
    struct cn_zorka_request request;
    cn_collected_fn done;
    void *arg;
    uint64_t who;
    uint64_t rejected; /* spans */
};

struct entries {
    struct collector_entry *list;
    size_t count, capacity;
};

/* The state of the commit that was handed to the saver. */
enum saving { SAVING_NOTHING, SAVING, SAVING_DONE };

/* One lane of the store, with its jobs. */
struct collector_lane {
    struct cn_collector *collector;
    unsigned number;
    pthread_cond_t has_work;   /* for the reader */
    pthread_cond_t has_commit; /* for the saver */
    struct cn_job reader, saver, sealer;

    /* Under the lock of the collector. */
    bool has_ended;
    uint64_t retire_ns; /* begin a new segment if this one is older; 0: not asked */
    struct entries submitted;
    enum saving saving;
    bool is_saved;
    struct cn_error save_failure;
    uint32_t *full; /* segments to seal; the first one is being sealed, or is next */
    size_t full_count, full_capacity;

    /* Used by the reader only. */
    struct cn_store_writer *writer; /* NULL: the store cannot be written */
    struct cn_store_ingest *ingest;
    struct cn_store_ingest_counts counted; /* the part of its counts in `counts` */
    uint64_t failed_ns;
    struct cn_error failure;
    struct entries taken; /* from `submitted` */
    size_t taken_at;      /* the next one to read */
    struct entries read;  /* requests of the next commit */
    bool is_out;          /* the saver has a commit that was not taken back */

    /* Used by the saver while it saves, otherwise by the reader. */
    struct cn_replica_lane copied;
    struct cn_store_commit *commit;
    struct entries cut; /* requests of this commit */
};

struct cn_collector {
    char *path;
    struct cn_collector_options options;
    struct cn_store_lanes *store; /* each lane uses its own */
    struct cn_replica *replica;   /* NULL: none */
    struct cn_keeper *keeper;     /* NULL: none */
    struct cn_job_group jobs;
    struct collector_lane lanes[CN_STORE_LANES_MAX];
    unsigned lane_count;

    /* Under the lock. */
    pthread_mutex_t lock;
    bool is_ending;
    size_t waiting_count; /* requests that are not answered */
    uint64_t waiting_len;
    struct cn_map waiting_of; /* by sender: requests that are not answered */
    struct cn_collector_counts counts;
    double allowance;    /* spans that may be added, with rate_max; below 0: owed */
    uint64_t allowed_ns; /* when it was computed */
};

static void add_entry(struct entries *entries, const struct collector_entry *entry)
{
    CN_PUSH(entries->list, entries->count, entries->capacity, *entry);
}

/* Without the lock held: callbacks take locks of their own. */
static void answer(struct cn_collector *c, const struct collector_entry *list,
                   size_t count, enum cn_collected how, const struct cn_error *err)
{
    (void)pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < count; i++) {
        c->waiting_len -= list[i].request.body.len;
        --*cn_map_at(&c->waiting_of, list[i].who, 0);
    }
    c->waiting_count -= count;
    if (c->waiting_count == 0)
        cn_map_done(&c->waiting_of);
    (void)pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < count; i++) {
        uint64_t rejected = how == CN_COLLECTED ? list[i].rejected : 0;
        struct cn_error why;

        if (rejected > 0)
            (void)cn_fail(&why, CN_ERR_FORMAT, "%" PRIu64 " %s no trace id or no span id",
                          rejected, cn_plural(rejected, "span has", "spans have"));
        list[i].done(list[i].arg, how, rejected, rejected > 0 ? &why : err);
    }
}

static void begin_ingest(struct collector_lane *lane)
{
    lane->writer = cn_store_lane(lane->collector->store, lane->number);
    lane->ingest = cn_store_ingest_new(lane->writer);
    cn_store_ingest_share(lane->ingest, lane->collector->options.lanes);
    lane->counted = (struct cn_store_ingest_counts){0};
}

static bool reopen(struct collector_lane *lane, struct cn_error *err)
{
    if (!cn_store_lane_reopen(lane->collector->store, lane->number, err))
        return false;
    cn_replica_lane_reset(&lane->copied);
    begin_ingest(lane);
    return true;
}

/* Requests that were read and not saved are lost, and with them the symbols of all
 * agents, which are asked to send them again. */
static void drop_store(struct collector_lane *lane, const struct cn_error *failure)
{
    lane->failure = *failure;
    lane->failed_ns = cn_clock_ns();
    (void)pthread_mutex_lock(&lane->collector->lock);
    lane->collector->counts.failures++;
    (void)pthread_mutex_unlock(&lane->collector->lock);
    cn_job_end(&lane->sealer);
    cn_store_ingest_free(lane->ingest);
    cn_store_lane_drop(lane->collector->store, lane->number);
    lane->ingest = NULL;
    lane->writer = NULL;
    answer(lane->collector, lane->read.list, lane->read.count, CN_COLLECTED_NOT_SAVED,
           failure);
    lane->read.count = 0;
}

/* Take the commit back if it is saved; with `waits`, wait until it is. */
static void take_back(struct collector_lane *lane, bool waits)
{
    (void)pthread_mutex_lock(&lane->collector->lock);
    while (waits && lane->saving == SAVING)
        (void)pthread_cond_wait(&lane->has_work, &lane->collector->lock);
    bool is_done = lane->saving == SAVING_DONE;
    if (is_done)
        lane->saving = SAVING_NOTHING;
    (void)pthread_mutex_unlock(&lane->collector->lock);
    if (!is_done)
        return;
    lane->is_out = false;
    cn_store_writer_take_back(lane->writer, lane->is_saved);
    if (!lane->is_saved)
        drop_store(lane, &lane->save_failure);
}

/* Copy what was saved to object storage, if that is wanted. `dir` as in cn_replica_send(). */
static bool copy(struct collector_lane *lane, const char *dir, struct cn_error *err)
{
    struct cn_collector *c = lane->collector;

    if (!c->replica || cn_replica_send(c->replica, &lane->copied, dir, err))
        return true;
    (void)pthread_mutex_lock(&c->lock);
    c->counts.not_copied++;
    (void)pthread_mutex_unlock(&c->lock);
    return false;
}

/* Hand the requests that were read to the saver, which is idle. */
static void hand_over(struct collector_lane *lane)
{
    struct entries cut = lane->cut;
    struct cn_error err;

    /* Symbols alone stay in memory, and traces that are known are on disk. */
    if (cn_store_writer_waiting(lane->writer) == 0) {
        answer(lane->collector, lane->read.list, lane->read.count,
               copy(lane, NULL, &err) ? CN_COLLECTED : CN_COLLECTED_NOT_SAVED, &err);
        lane->read.count = 0;
        return;
    }
    if (!cn_store_writer_cut(lane->writer, &lane->commit, &err)) {
        drop_store(lane, &err);
        return;
    }
    lane->cut = lane->read;
    lane->read = cut;
    lane->read.count = 0;
    lane->is_out = true;
    (void)pthread_mutex_lock(&lane->collector->lock);
    lane->saving = SAVING;
    (void)pthread_cond_signal(&lane->has_commit);
    (void)pthread_mutex_unlock(&lane->collector->lock);
}

/* True if the store can take the next request. */
static bool is_ready(struct collector_lane *lane)
{
    if (!lane->writer && cn_clock_ns() - lane->failed_ns >= retry_ns &&
        !reopen(lane, &lane->failure))
        lane->failed_ns = cn_clock_ns();
    /* A new segment begins when all of the last one is saved. */
    if (lane->writer && cn_store_writer_is_due(lane->writer))
        take_back(lane, true);
    return lane->writer != NULL;
}

/* A job: seal full segments. One that cannot be sealed is sealed when the store is
 * reopened. */
static bool seal(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct collector_lane *lane = arg;

    (void)progress;
    (void)pthread_mutex_lock(&lane->collector->lock);
    while (lane->full_count > 0) {
        uint32_t segment = lane->full[0];

        (void)pthread_mutex_unlock(&lane->collector->lock);
        (void)!cn_segment_seal(lane->collector->path, segment,
                               lane->collector->options.io, err);
        (void)pthread_mutex_lock(&lane->collector->lock);
        lane->full_count--;
        memmove(lane->full, lane->full + 1, lane->full_count * sizeof(*lane->full));
    }
    (void)pthread_mutex_unlock(&lane->collector->lock);
    return true;
}

/* Hand full segments to the sealer. */
static void seal_full(struct collector_lane *lane)
{
    struct cn_error ignored;
    uint32_t segment;

    if (!lane->writer || !cn_store_writer_take_full(lane->writer, &segment))
        return;
    (void)pthread_mutex_lock(&lane->collector->lock);
    do {
        CN_PUSH(lane->full, lane->full_count, lane->full_capacity, segment);
    } while (cn_store_writer_take_full(lane->writer, &segment));
    (void)pthread_mutex_unlock(&lane->collector->lock);
    (void)!cn_job_start(&lane->sealer, &ignored); /* on failure, see seal() */
}

/* Begin a new segment if the current one was last written before the time that was asked for. */
static void retire(struct collector_lane *lane)
{
    struct cn_error err;

    (void)pthread_mutex_lock(&lane->collector->lock);
    uint64_t before_ns = lane->retire_ns;
    lane->retire_ns = 0;
    (void)pthread_mutex_unlock(&lane->collector->lock);
    if (before_ns == 0 || !lane->writer || !cn_store_writer_has_rows(lane->writer) ||
        cn_segment_written_ns(lane->collector->path,
                              cn_store_writer_segment(lane->writer)) >= before_ns)
        return;
    take_back(lane, true);
    if (lane->writer && !cn_store_writer_rotate(lane->writer, &err))
        drop_store(lane, &err);
    seal_full(lane);
}

static void read_entry(struct collector_lane *lane, struct collector_entry *entry)
{
    struct cn_error err;

    if (!is_ready(lane)) {
        answer(lane->collector, entry, 1, CN_COLLECTED_NOT_SAVED, &lane->failure);
        return;
    }
    if (entry->kind == CN_COLLECT_SPANS
            ? cn_store_ingest_spans(lane->ingest, entry->request.body, &entry->rejected,
                                    &err)
            : cn_store_ingest_request(lane->ingest, &entry->request, &err)) {
        add_entry(&lane->read, entry);
    } else if (err.kind == CN_ERR_IO) {
        answer(lane->collector, entry, 1, CN_COLLECTED_NOT_SAVED, &err);
        take_back(lane, true);
        if (lane->writer)
            drop_store(lane, &err);
        return;
    } else {
        answer(lane->collector, entry, 1, CN_COLLECTED_NOT, &err);
    }
    seal_full(lane);
}

static void count_read(struct collector_lane *lane)
{
    if (!lane->ingest)
        return;
    struct cn_store_ingest_counts now = cn_store_ingest_counts(lane->ingest);
    (void)pthread_mutex_lock(&lane->collector->lock);
    lane->collector->counts.requests += now.requests - lane->counted.requests;
    lane->collector->counts.refused += now.refused - lane->counted.refused;
    lane->collector->counts.traces += now.added.traces - lane->counted.added.traces;
    lane->collector->counts.parts += now.added.parts - lane->counted.added.parts;
    lane->collector->counts.known += now.added.known - lane->counted.added.known;
    lane->collector->counts.records += now.added.records - lane->counted.added.records;
    lane->collector->allowance -=
        (double)(now.added.records - lane->counted.added.records);
    lane->collector->counts.redacted += now.added.redacted - lane->counted.added.redacted;
    (void)pthread_mutex_unlock(&lane->collector->lock);
    lane->counted = now;
}

static bool is_full(const struct collector_lane *lane)
{
    return lane->writer && cn_store_writer_waiting(lane->writer) > COMMIT_LEN_MAX;
}

static bool can_hand_over(const struct collector_lane *lane)
{
    return !lane->is_out && (lane->read.count > 0 || is_full(lane));
}

/* Wait until there is work, and take what was submitted. False at the end. */
static bool wait_for_work(struct collector_lane *lane)
{
    bool has_rest = lane->taken_at < lane->taken.count, is_full_now = is_full(lane),
         goes_on;
    bool can_go_on = can_hand_over(lane) || (has_rest && !is_full_now);

    (void)pthread_mutex_lock(&lane->collector->lock);
    while (!can_go_on && lane->saving != SAVING_DONE &&
           (lane->submitted.count == 0 || is_full_now) && lane->retire_ns == 0 &&
           (lane->is_out || !lane->collector->is_ending))
        (void)pthread_cond_wait(&lane->has_work, &lane->collector->lock);
    goes_on = can_go_on || lane->is_out || lane->submitted.count > 0 ||
              (lane->retire_ns > 0 && !lane->collector->is_ending);
    if (!has_rest) {
        struct entries empty = lane->taken;

        lane->taken = lane->submitted;
        lane->taken_at = 0;
        lane->submitted = empty;
        lane->submitted.count = 0;
    }
    (void)pthread_mutex_unlock(&lane->collector->lock);
    return goes_on;
}

static bool read_forever(void *arg, const struct cn_progress *progress,
                         struct cn_error *err)
{
    struct collector_lane *lane = arg;

    (void)progress;
    (void)err;
    while (wait_for_work(lane)) {
        take_back(lane, false);
        retire(lane);
        for (int i = 0;
             i < TURN_MAX && lane->taken_at < lane->taken.count && !is_full(lane); i++)
            read_entry(lane, &lane->taken.list[lane->taken_at++]);
        count_read(lane);
        if (can_hand_over(lane))
            hand_over(lane);
    }
    (void)pthread_mutex_lock(&lane->collector->lock);
    lane->has_ended = true;
    (void)pthread_cond_signal(&lane->has_commit);
    (void)pthread_mutex_unlock(&lane->collector->lock);
    return true;
}

static bool save_forever(void *arg, const struct cn_progress *progress,
                         struct cn_error *err)
{
    struct collector_lane *lane = arg;
    bool is_saved, is_copied;

    (void)progress;
    (void)err;
    (void)pthread_mutex_lock(&lane->collector->lock);
    for (;;) {
        while (lane->saving != SAVING && !lane->has_ended)
            (void)pthread_cond_wait(&lane->has_commit, &lane->collector->lock);
        if (lane->saving != SAVING)
            break;
        (void)pthread_mutex_unlock(&lane->collector->lock);
        is_saved = cn_store_commit_save(lane->commit, &lane->save_failure);
        is_copied = is_saved && copy(lane, lane->commit->files->dir, &lane->save_failure);
        answer(lane->collector, lane->cut.list, lane->cut.count,
               is_copied ? CN_COLLECTED : CN_COLLECTED_NOT_SAVED, &lane->save_failure);
        lane->cut.count = 0;
        (void)pthread_mutex_lock(&lane->collector->lock);
        lane->collector->counts.commits++;
        lane->is_saved = is_saved;
        lane->saving = SAVING_DONE;
        (void)pthread_cond_signal(&lane->has_work);
    }
    (void)pthread_mutex_unlock(&lane->collector->lock);
    return true;
}

static void free_lane(struct collector_lane *lane)
{
    cn_job_end(&lane->sealer);
    cn_store_ingest_free(lane->ingest);
    free(lane->submitted.list);
    free(lane->taken.list);
    free(lane->read.list);
    free(lane->cut.list);
    free(lane->full);
    cn_replica_lane_done(&lane->copied);
    (void)pthread_cond_destroy(&lane->has_work);
    (void)pthread_cond_destroy(&lane->has_commit);
}

static void free_collector(struct cn_collector *c)
{
    for (unsigned i = 0; i < c->lane_count; i++)
        free_lane(&c->lanes[i]);
    cn_job_group_done(&c->jobs);
    cn_map_done(&c->waiting_of);
    cn_replica_close(c->replica);
    (void)pthread_mutex_destroy(&c->lock);
    free(c->path);
    free(c);
}

static bool open_store(struct cn_collector *c, struct cn_error *err)
{
    struct cn_store_options options = {
        .seals_later = true,
        .io = c->options.io,
        .redaction = c->options.redaction,
    };
    struct cn_store_config config;

    if ((cn_store_is_missing(c->path) && !cn_store_init(c->path, &options, err)) ||
        (c->options.replicate && !cn_replica_open(&c->replica, c->options.replicate,
                                                  c->path, c->options.url, err)) ||
        !cn_store_config_read(&config, c->path, err))
        return false;
    cn_collector_choose_rotation(&c->options, &config, &options);
    return cn_store_lanes_open(&c->store, c->path, c->options.lanes, &options, err);
}

static void retire_all(void *arg, uint64_t before_ns)
{
    struct cn_collector *c = arg;

    (void)pthread_mutex_lock(&c->lock);
    for (unsigned i = 0; i < c->lane_count; i++) {
        c->lanes[i].retire_ns = before_ns;
        (void)pthread_cond_signal(&c->lanes[i].has_work);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

bool cn_collector_keep(struct cn_collector *c, struct cn_error *err)
{
    struct cn_keeper_options options = {
        .path = c->path,
        .address = c->options.keep_address,
        .limits = c->options.keep,
        .numbers = cn_store_lanes_numbers(c->store),
        .retire = retire_all,
        .retire_arg = c,
        .settle = c->options.settle,
        .settle_arg = c->options.settle_arg,
        .log = c->options.log,
        .log_arg = c->options.log_arg,
    };

    return !cn_keeper_has_work(&options.limits) ||
           cn_keeper_start(&c->keeper, &options, err);
}

static bool start_lane(struct cn_collector *c, struct cn_error *err)
{
    struct collector_lane *lane = &c->lanes[c->lane_count];

    *lane = (struct collector_lane){
        .collector = c,
        .number = c->lane_count,
        .reader = {.group = &c->jobs, .work = read_forever, .arg = lane},
        .saver = {.group = &c->jobs, .work = save_forever, .arg = lane},
        .sealer = {.group = &c->jobs, .work = seal, .arg = lane},
    };
    (void)pthread_cond_init(&lane->has_work, NULL);
    (void)pthread_cond_init(&lane->has_commit, NULL);
    begin_ingest(lane);
    c->lane_count++;
    return cn_job_start(&lane->reader, err) && cn_job_start(&lane->saver, err);
}

bool cn_collector_open(struct cn_collector **out, const char *path,
                       const struct cn_collector_options *options, struct cn_error *err)
{
    struct cn_collector *c = cn_alloc(1, sizeof(*c));
    bool ok;

    cn_collector_choose(&c->options, options);
    c->path = cn_strdup(path);
    (void)pthread_mutex_init(&c->lock, NULL);
    cn_job_group_init(&c->jobs, 3 * c->options.lanes);
    ok = open_store(c, err);
    while (ok && c->lane_count < c->options.lanes)
        ok = start_lane(c, err);
    if (!ok) {
        cn_collector_finish(c);
        cn_store_lanes_abandon(c->store);
        free_collector(c);
        return false;
    }
    *out = c;
    return true;
}

void cn_collector_finish(struct cn_collector *c)
{
    (void)pthread_mutex_lock(&c->lock);
    c->is_ending = true;
    for (unsigned i = 0; i < c->lane_count; i++)
        (void)pthread_cond_signal(&c->lanes[i].has_work);
    (void)pthread_mutex_unlock(&c->lock);
    for (unsigned i = 0; i < c->lane_count; i++) {
        cn_job_end(&c->lanes[i].reader);
        cn_job_end(&c->lanes[i].saver);
    }
}

bool cn_collector_close(struct cn_collector *c, struct cn_error *err)
{
    struct cn_error ignored;
    bool ok = true;

    cn_keeper_stop(c->keeper);
    c->keeper = NULL;
    cn_collector_finish(c);
    for (unsigned i = 0; i < c->lane_count; i++) {
        cn_job_end(&c->lanes[i].sealer);
        if (!c->lanes[i].writer && ok) {
            *err = c->lanes[i].failure;
            ok = false;
        }
    }
    if (!cn_store_lanes_close(c->store, ok ? err : &ignored))
        ok = false;
    free_collector(c);
    return ok;
}

/* What a request has is known when it was read: one that begins within the rate may exceed it, and
 * later ones wait until that is made up for. A second's spans may come at once. */
static bool is_too_fast(struct cn_collector *c)
{
    double rate = (double)c->options.rate_max;
    uint64_t now_ns = cn_clock_ns();

    if (c->options.rate_max == 0)
        return false;
    c->allowance += rate * (double)(now_ns - c->allowed_ns) / 1e9;
    if (c->allowance > rate || c->allowed_ns == 0)
        c->allowance = rate;
    c->allowed_ns = now_ns;
    return c->allowance <= 0;
}

static bool is_busy(const struct cn_collector *c, uint64_t who, size_t len)
{
    const struct cn_collector_options *options = &c->options;

    return c->waiting_count >= options->waiting_max ||
           c->waiting_len + len > options->waiting_len_max ||
           cn_map_find(&c->waiting_of, who, 0) >= options->waiting_max_of_one;
}

bool cn_collector_submit(struct cn_collector *c, enum cn_collector_kind kind,
                         const struct cn_zorka_request *request, const char *who,
                         cn_collected_fn done, void *arg)
{
    struct collector_entry entry = {
        kind, *request, done, arg, XXH3_64bits(who, strlen(who)), 0};
    struct collector_lane *lane = &c->lanes[cn_store_lane_of(who, c->lane_count)];

    (void)pthread_mutex_lock(&c->lock);
    bool is_taken =
        !c->is_ending && !is_busy(c, entry.who, request->body.len) && !is_too_fast(c);
    if (is_taken) {
        add_entry(&lane->submitted, &entry);
        c->waiting_count++;
        c->waiting_len += request->body.len;
        ++*cn_map_at(&c->waiting_of, entry.who, 0);
        if (lane->submitted.count == 1)
            (void)pthread_cond_signal(&lane->has_work);
    } else {
        c->counts.put_off++;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return is_taken;
}

struct cn_collector_counts cn_collector_counts(struct cn_collector *c)
{
    (void)pthread_mutex_lock(&c->lock);
    struct cn_collector_counts counts = c->counts;
    (void)pthread_mutex_unlock(&c->lock);
    return counts;
}

struct cn_keeper_counts cn_collector_kept(struct cn_collector *c)
{
    return c->keeper ? cn_keeper_counts(c->keeper) : (struct cn_keeper_counts){0};
}

unsigned cn_collector_lane_count(const struct cn_collector *collector)
{
    return collector->lane_count;
}
