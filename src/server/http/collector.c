#include "server/http/collector.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/map.h"
#include "base/run/clock.h"
#include "server/served/job.h"
#include "store/segment/seal.h"
#include "store/write/ingest.h"
#include "store/write/writer.h"

enum {
    WAITING_MAX = 4096,
    WAITING_MAX_OF_ONE = 1024,
    WAITING_LEN_MAX = 64 << 20,
    TURN_MAX = 16,            /* requests read before the saver is checked again */
    COMMIT_LEN_MAX = 8 << 20, /* bytes; a longer commit waits for the one before it */
};

static const uint64_t retry_ns = 1000000000; /* before a store that failed is reopened */

/* A request that is not answered yet. */
struct entry {
    enum cn_collector_kind kind;
    struct cn_zorka_request request;
    cn_collected_fn done;
    void *arg;
    uint64_t who;
};

struct entries {
    struct entry *list;
    size_t count, capacity;
};

/* The state of the commit that was handed to the saver. */
enum saving { SAVING_NOTHING, SAVING, SAVING_DONE };

struct cn_collector {
    char *path;
    struct cn_collector_options options;
    pthread_mutex_t lock;
    pthread_cond_t has_work;   /* for the reader */
    pthread_cond_t has_commit; /* for the saver */
    struct cn_job_group jobs;
    struct cn_job reader, saver, sealer;

    /* Under the lock. */
    bool is_ending, has_ended;
    struct entries submitted;
    size_t waiting_count; /* requests that are not answered */
    uint64_t waiting_len;
    struct cn_map waiting_of; /* by sender: requests that are not answered */
    struct cn_collector_counts counts;
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
    struct cn_store_commit *commit;
    struct entries cut; /* requests of this commit */
};

static void add_entry(struct entries *entries, const struct entry *entry)
{
    entries->list = cn_grow(entries->list, entries->count, &entries->capacity,
                            sizeof(*entries->list));
    entries->list[entries->count++] = *entry;
}

/* Without the lock held: callbacks take locks of their own. */
static void answer(struct cn_collector *c, const struct entry *list, size_t count,
                   enum cn_collected how, const struct cn_error *err)
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
    for (size_t i = 0; i < count; i++)
        list[i].done(list[i].arg, how, err);
}

static bool open_store(struct cn_collector *c, struct cn_error *err)
{
    struct cn_store_options options = {.seals_later = true, .io = c->options.io};
    struct stat st;

    if (stat(c->path, &st) != 0 && !cn_store_init(c->path, &options, err))
        return false;
    if (!cn_store_writer_open(&c->writer, c->path, &options, err))
        return false;
    c->ingest = cn_store_ingest_new(c->writer);
    c->counted = (struct cn_store_ingest_counts){0};
    return true;
}

/* Requests that were read and not saved are lost, and with them the symbols of all
 * agents, which are asked to send them again. */
static void drop_store(struct cn_collector *c, const struct cn_error *failure)
{
    c->failure = *failure;
    c->failed_ns = cn_clock_ns();
    cn_job_end(&c->sealer);
    cn_store_ingest_free(c->ingest);
    cn_store_writer_abandon(c->writer);
    c->ingest = NULL;
    c->writer = NULL;
    answer(c, c->read.list, c->read.count, CN_COLLECTED_NOT_SAVED, failure);
    c->read.count = 0;
}

/* Take the commit back if it is saved; with `waits`, wait until it is. */
static void take_back(struct cn_collector *c, bool waits)
{
    bool is_done;

    (void)pthread_mutex_lock(&c->lock);
    while (waits && c->saving == SAVING)
        (void)pthread_cond_wait(&c->has_work, &c->lock);
    is_done = c->saving == SAVING_DONE;
    if (is_done)
        c->saving = SAVING_NOTHING;
    (void)pthread_mutex_unlock(&c->lock);
    if (!is_done)
        return;
    c->is_out = false;
    cn_store_writer_take_back(c->writer, c->is_saved);
    if (!c->is_saved)
        drop_store(c, &c->save_failure);
}

/* Hand the requests that were read to the saver, which is idle. */
static void hand_over(struct cn_collector *c)
{
    struct entries cut = c->cut;
    struct cn_error err;

    /* Symbols alone stay in memory, and traces that are known are on disk. */
    if (cn_store_writer_waiting(c->writer) == 0) {
        answer(c, c->read.list, c->read.count, CN_COLLECTED, NULL);
        c->read.count = 0;
        return;
    }
    if (!cn_store_writer_cut(c->writer, &c->commit, &err)) {
        drop_store(c, &err);
        return;
    }
    c->cut = c->read;
    c->read = cut;
    c->read.count = 0;
    c->is_out = true;
    (void)pthread_mutex_lock(&c->lock);
    c->saving = SAVING;
    (void)pthread_cond_signal(&c->has_commit);
    (void)pthread_mutex_unlock(&c->lock);
}

/* True if the store can take the next request. */
static bool is_ready(struct cn_collector *c)
{
    if (!c->writer && cn_clock_ns() - c->failed_ns >= retry_ns &&
        !open_store(c, &c->failure))
        c->failed_ns = cn_clock_ns();
    /* A new segment begins when all of the last one is saved. */
    if (c->writer && cn_store_writer_is_due(c->writer))
        take_back(c, true);
    return c->writer != NULL;
}

/* A job: seal full segments. One that cannot be sealed is sealed when the store is
 * reopened. */
static bool seal(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_collector *c = arg;

    (void)progress;
    (void)pthread_mutex_lock(&c->lock);
    while (c->full_count > 0) {
        uint32_t segment = c->full[0];

        (void)pthread_mutex_unlock(&c->lock);
        (void)!cn_segment_seal(c->path, segment, c->options.io, err);
        (void)pthread_mutex_lock(&c->lock);
        c->full_count--;
        memmove(c->full, c->full + 1, c->full_count * sizeof(*c->full));
    }
    (void)pthread_mutex_unlock(&c->lock);
    return true;
}

static void read_entry(struct cn_collector *c, const struct entry *entry)
{
    struct cn_error err;
    uint32_t segment;

    if (!is_ready(c)) {
        answer(c, entry, 1, CN_COLLECTED_NOT_SAVED, &c->failure);
        return;
    }
    segment = cn_store_writer_segment(c->writer);
    if (entry->kind == CN_COLLECT_SPANS
            ? cn_store_ingest_spans(c->ingest, entry->request.body, &err)
            : cn_store_ingest_request(c->ingest, &entry->request, &err)) {
        add_entry(&c->read, entry);
    } else if (err.kind == CN_ERR_IO) {
        answer(c, entry, 1, CN_COLLECTED_NOT_SAVED, &err);
        take_back(c, true);
        if (c->writer)
            drop_store(c, &err);
        return;
    } else {
        answer(c, entry, 1, CN_COLLECTED_NOT, &err);
    }
    if (segment == cn_store_writer_segment(c->writer))
        return;
    (void)pthread_mutex_lock(&c->lock);
    for (; segment < cn_store_writer_segment(c->writer); segment++) {
        c->full = cn_grow(c->full, c->full_count, &c->full_capacity, sizeof(*c->full));
        c->full[c->full_count++] = segment;
    }
    (void)pthread_mutex_unlock(&c->lock);
    (void)!cn_job_start(&c->sealer, &err); /* on failure, see seal() */
}

static void count_read(struct cn_collector *c)
{
    struct cn_store_ingest_counts now;

    if (!c->ingest)
        return;
    now = cn_store_ingest_counts(c->ingest);
    (void)pthread_mutex_lock(&c->lock);
    c->counts.requests += now.requests - c->counted.requests;
    c->counts.refused += now.refused - c->counted.refused;
    c->counts.traces += now.added.traces - c->counted.added.traces;
    c->counts.known += now.added.known - c->counted.added.known;
    c->counts.records += now.added.records - c->counted.added.records;
    (void)pthread_mutex_unlock(&c->lock);
    c->counted = now;
}

static bool is_full(const struct cn_collector *c)
{
    return c->writer && cn_store_writer_waiting(c->writer) > COMMIT_LEN_MAX;
}

static bool can_hand_over(const struct cn_collector *c)
{
    return !c->is_out && (c->read.count > 0 || is_full(c));
}

/* Wait until there is work, and take what was submitted. False at the end. */
static bool wait_for_work(struct cn_collector *c)
{
    bool has_rest = c->taken_at < c->taken.count, is_full_now = is_full(c), goes_on;
    bool can_go_on = can_hand_over(c) || (has_rest && !is_full_now);

    (void)pthread_mutex_lock(&c->lock);
    while (!can_go_on && c->saving != SAVING_DONE &&
           (c->submitted.count == 0 || is_full_now) && (c->is_out || !c->is_ending))
        (void)pthread_cond_wait(&c->has_work, &c->lock);
    goes_on = can_go_on || c->is_out || c->submitted.count > 0;
    if (!has_rest) {
        struct entries empty = c->taken;

        c->taken = c->submitted;
        c->taken_at = 0;
        c->submitted = empty;
        c->submitted.count = 0;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return goes_on;
}

static bool read_forever(void *arg, const struct cn_progress *progress,
                         struct cn_error *err)
{
    struct cn_collector *c = arg;

    (void)progress;
    (void)err;
    while (wait_for_work(c)) {
        take_back(c, false);
        for (int i = 0; i < TURN_MAX && c->taken_at < c->taken.count && !is_full(c); i++)
            read_entry(c, &c->taken.list[c->taken_at++]);
        count_read(c);
        if (can_hand_over(c))
            hand_over(c);
    }
    (void)pthread_mutex_lock(&c->lock);
    c->has_ended = true;
    (void)pthread_cond_signal(&c->has_commit);
    (void)pthread_mutex_unlock(&c->lock);
    return true;
}

static bool save_forever(void *arg, const struct cn_progress *progress,
                         struct cn_error *err)
{
    struct cn_collector *c = arg;
    bool is_saved;

    (void)progress;
    (void)err;
    (void)pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->saving != SAVING && !c->has_ended)
            (void)pthread_cond_wait(&c->has_commit, &c->lock);
        if (c->saving != SAVING)
            break;
        (void)pthread_mutex_unlock(&c->lock);
        is_saved = cn_store_commit_save(c->commit, &c->save_failure);
        answer(c, c->cut.list, c->cut.count,
               is_saved ? CN_COLLECTED : CN_COLLECTED_NOT_SAVED, &c->save_failure);
        c->cut.count = 0;
        (void)pthread_mutex_lock(&c->lock);
        c->counts.commits++;
        c->is_saved = is_saved;
        c->saving = SAVING_DONE;
        (void)pthread_cond_signal(&c->has_work);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return true;
}

static void free_collector(struct cn_collector *c)
{
    cn_job_end(&c->sealer);
    cn_job_group_done(&c->jobs);
    cn_store_ingest_free(c->ingest);
    cn_map_done(&c->waiting_of);
    free(c->submitted.list);
    free(c->taken.list);
    free(c->read.list);
    free(c->cut.list);
    free(c->full);
    (void)pthread_cond_destroy(&c->has_work);
    (void)pthread_cond_destroy(&c->has_commit);
    (void)pthread_mutex_destroy(&c->lock);
    free(c->path);
    free(c);
}

static void set_options(struct cn_collector *c, const struct cn_collector_options *given)
{
    struct cn_collector_options *options = &c->options;

    if (given)
        *options = *given;
    if (options->waiting_max == 0)
        options->waiting_max = WAITING_MAX;
    if (options->waiting_max_of_one == 0)
        options->waiting_max_of_one = WAITING_MAX_OF_ONE;
    if (options->waiting_len_max == 0)
        options->waiting_len_max = WAITING_LEN_MAX;
    if (!options->io)
        options->io = &cn_disk_files;
}

bool cn_collector_open(struct cn_collector **out, const char *path,
                       const struct cn_collector_options *options, struct cn_error *err)
{
    struct cn_collector *c = cn_alloc(1, sizeof(*c));

    set_options(c, options);
    c->path = cn_strdup(path);
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->has_work, NULL);
    (void)pthread_cond_init(&c->has_commit, NULL);
    cn_job_group_init(&c->jobs, 3);
    c->reader = (struct cn_job){.group = &c->jobs, .work = read_forever, .arg = c};
    c->saver = (struct cn_job){.group = &c->jobs, .work = save_forever, .arg = c};
    c->sealer = (struct cn_job){.group = &c->jobs, .work = seal, .arg = c};
    if (!open_store(c, err) || !cn_job_start(&c->reader, err) ||
        !cn_job_start(&c->saver, err)) {
        cn_collector_finish(c);
        cn_store_writer_abandon(c->writer);
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
    (void)pthread_cond_signal(&c->has_work);
    (void)pthread_mutex_unlock(&c->lock);
    cn_job_end(&c->reader);
    cn_job_end(&c->saver);
}

bool cn_collector_close(struct cn_collector *c, struct cn_error *err)
{
    bool ok;

    cn_collector_finish(c);
    cn_job_end(&c->sealer);
    if (c->writer) {
        ok = cn_store_writer_close(c->writer, err);
    } else {
        *err = c->failure;
        ok = false;
    }
    free_collector(c);
    return ok;
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
    struct entry entry = {kind, *request, done, arg, XXH3_64bits(who, strlen(who))};
    bool is_taken;

    (void)pthread_mutex_lock(&c->lock);
    is_taken = !c->is_ending && !is_busy(c, entry.who, request->body.len);
    if (is_taken) {
        add_entry(&c->submitted, &entry);
        c->waiting_count++;
        c->waiting_len += request->body.len;
        ++*cn_map_at(&c->waiting_of, entry.who, 0);
        if (c->submitted.count == 1)
            (void)pthread_cond_signal(&c->has_work);
    } else {
        c->counts.put_off++;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return is_taken;
}

struct cn_collector_counts cn_collector_counts(struct cn_collector *c)
{
    struct cn_collector_counts counts;

    (void)pthread_mutex_lock(&c->lock);
    counts = c->counts;
    (void)pthread_mutex_unlock(&c->lock);
    return counts;
}
