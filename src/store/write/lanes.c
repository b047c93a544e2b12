#include "store/write/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/chunk_format.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "store/segment/log_format.h"
#include "store/segment/seal.h"
#include "store/segment/segments.h"
#include "store/write/lock.h"
#include "store/write/spans_seen.h"
#include "store/write/writer.h"

/* Spans of so many segments are read when a store is opened, at most. */
enum { KNOWN_MAX = 2 * CN_STORE_LANES_MAX };

struct cn_store_lanes {
    char *path;
    int lock_fd;
    struct cn_store_options options;
    struct cn_store_config config;
    uint32_t first_number;             /* lane i has this + i for its first new segment */
    struct cn_segment_numbers numbers; /* of new segments after those */
    bool has_before, has_opened;
    struct cn_spans_seen before; /* not changed after opening */
    unsigned count;
    struct cn_store_writer *writers[CN_STORE_LANES_MAX];
};

/* A segment as it was found. */
struct lane_found {
    uint32_t number;
    bool has_config, is_sealed;
    bool is_unfinished; /* a crash left it before anything was written to it */
    bool is_empty;      /* nothing was ever committed to it */
    char lane[CN_STORE_LANE_LEN];
};

struct lane_finds {
    struct lane_found *list; /* by number */
    size_t count;
};

static uint64_t data_len(const char *dir)
{
    struct stat st;
    char *path = cn_strprintf("%s/" CN_TRACES_NAME, dir);
    uint64_t len = stat(path, &st) < 0 ? 0 : (uint64_t)st.st_size;

    free(path);
    return len;
}

static struct lane_found look_at(const char *base, uint32_t number)
{
    char *dir = cn_segment_dir(base, number);
    struct lane_found found = {.number = number};
    uint64_t len = data_len(dir);
    struct cn_store_config config;
    struct cn_error ignored;

    found.has_config = cn_store_config_read(&config, dir, &ignored);
    found.is_sealed = found.has_config && config.is_sealed;
    found.is_unfinished = !found.has_config && len == 0;
    found.is_empty = !found.is_sealed && len <= cn_chunk_file_header_size;
    if (found.has_config)
        memcpy(found.lane, config.lane, sizeof(found.lane));
    free(dir);
    return found;
}

static bool find_segments(struct lane_finds *finds, const char *base,
                          struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t count;

    *finds = (struct lane_finds){0};
    if (!cn_segments_list(base, &numbers, &count, err))
        return false;
    finds->list = cn_alloc(count, sizeof(*finds->list));
    for (size_t i = 0; i < count; i++)
        finds->list[finds->count++] = look_at(base, numbers[i]);
    free(numbers);
    return true;
}

/* "node7-3"; characters that a name cannot have are replaced. */
static void name_lane(char name[CN_STORE_LANE_LEN], unsigned i)
{
    enum { HOST_LEN = CN_STORE_LANE_LEN - 12 };
    char host[HOST_LEN] = "";

    name[0] = '\0';
    if (i == 0)
        return;
    if (gethostname(host, sizeof(host)) < 0 || host[0] == '\0')
        (void)snprintf(host, sizeof(host), "lane");
    host[HOST_LEN - 1] = '\0';
    for (char *at = host; *at; at++) {
        char one[2] = {*at, '\0'};

        if (!cn_store_lane_is_name(one))
            *at = '_';
    }
    (void)snprintf(name, CN_STORE_LANE_LEN, "%s-%u", host, i);
}

/* The newest segments of a lane, the newest first; CN_LANE_NO_SEGMENT if there is none. */
static void newest_of(const struct lane_finds *finds, const char *lane, size_t found[2])
{
    size_t count = 0;

    for (size_t i = finds->count; i-- > 0 && count < 2;)
        if (finds->list[i].has_config && strcmp(finds->list[i].lane, lane) == 0)
            found[count++] = i;
    while (count < 2)
        found[count++] = CN_LANE_NO_SEGMENT;
}

static uint32_t number_of(const struct lane_finds *finds, size_t i)
{
    return i == CN_LANE_NO_SEGMENT ? CN_LANE_NO_SEGMENT : finds->list[i].number;
}

static struct cn_lane_plan plan_lane(struct cn_store_lanes *lanes,
                                     const struct lane_finds *finds, unsigned lane)
{
    struct cn_lane_plan plan = {
        .path = lanes->path,
        .config = lanes->config,
        .first = lanes->first_number + lane,
        .numbers = &lanes->numbers,
        .before = lanes->has_before ? &lanes->before : NULL,
    };
    size_t newest[2];

    name_lane(plan.config.lane, lane);
    newest_of(finds, plan.config.lane, newest);
    bool is_open = newest[0] != CN_LANE_NO_SEGMENT && !finds->list[newest[0]].is_sealed;
    plan.current = is_open ? number_of(finds, newest[0]) : CN_LANE_NO_SEGMENT;
    plan.previous = number_of(finds, newest[is_open]);
    /* A number that is not used at once would appear below later ones. */
    if (is_open || lanes->has_opened)
        plan.first = CN_LANE_NO_SEGMENT;
    return plan;
}

/* The spans of the two newest segments of each lane. */
static void know_spans(struct cn_store_lanes *lanes, const struct lane_finds *finds)
{
    size_t first = finds->count > KNOWN_MAX ? finds->count - KNOWN_MAX : 0;
    bool has_names = false;

    for (size_t i = first; i < finds->count; i++)
        has_names |= finds->list[i].lane[0] != '\0';
    lanes->has_before = has_names || (lanes->count > 1 && finds->count > 0);
    for (size_t i = first; lanes->has_before && i < finds->count; i++) {
        size_t newest[2];

        newest_of(finds, finds->list[i].lane, newest);
        if (newest[0] == i || newest[1] == i)
            cn_spans_seen_add_segment(&lanes->before, lanes->path, finds->list[i].number);
    }
}

static bool is_current(struct cn_store_lanes *lanes, const struct lane_finds *finds,
                       uint32_t number)
{
    for (unsigned i = 0; i < lanes->count; i++)
        if (plan_lane(lanes, finds, i).current == number)
            return true;
    return false;
}

/* A crash, or lanes that are not opened now, may have left segments unsealed. */
static bool seal_others(struct cn_store_lanes *lanes, const struct lane_finds *finds,
                        struct cn_error *err)
{
    const struct cn_disk *io = lanes->options.io;

    for (size_t i = 0; i < finds->count; i++) {
        const struct lane_found *found = &finds->list[i];

        if (!found->is_sealed && !found->is_empty &&
            !is_current(lanes, finds, found->number) &&
            !cn_segment_seal(lanes->path, found->number, io, err))
            return false;
    }
    return true;
}

/* The newest segment must have a config, unless nothing was written to it. */
static bool check_newest(const struct lane_finds *finds, const char *base,
                         struct cn_error *err)
{
    const struct lane_found *newest =
        finds->count > 0 ? &finds->list[finds->count - 1] : NULL;
    struct cn_store_config config;

    if (!newest || newest->has_config || newest->is_unfinished)
        return true;
    char *dir = cn_segment_dir(base, newest->number);
    bool ok = cn_store_config_read(&config, dir, err);
    free(dir);
    return ok || cn_fail_in(err, "run 'cairn store recover %s' first", base);
}

/* Opening and closing wait for the disk, and closing compresses: all lanes do so at once. */
struct step {
    struct cn_store_lanes *lanes;
    struct cn_lane_plan *plans;
    bool ok[CN_STORE_LANES_MAX];
    struct cn_error errors[CN_STORE_LANES_MAX];
};

static bool do_step(struct step *step, void (*run)(void *arg, size_t i, unsigned worker),
                    struct cn_error *err)
{
    const struct cn_store_lanes *lanes = step->lanes;
    struct cn_jobs jobs = {.count = lanes->count, .arg = step, .run = run};

    /* Other disks than that of the system may belong to one thread. */
    cn_pool_run(&jobs, lanes->options.io == &cn_disk_files ? lanes->count : 1);
    for (unsigned i = 0; i < lanes->count; i++) {
        if (step->ok[i])
            continue;
        *err = step->errors[i];
        return false;
    }
    return true;
}

static void open_one(void *arg, size_t i, unsigned worker)
{
    struct step *step = arg;

    (void)worker;
    step->ok[i] = cn_store_writer_open_lane(&step->lanes->writers[i], &step->plans[i],
                                            &step->lanes->options, &step->errors[i]);
}

static void close_one(void *arg, size_t i, unsigned worker)
{
    struct step *step = arg;
    struct cn_store_writer *writer = step->lanes->writers[i];

    (void)worker;
    step->lanes->writers[i] = NULL;
    step->ok[i] = !writer || cn_store_writer_close(writer, &step->errors[i]);
}

static bool open_all(struct cn_store_lanes *lanes, const struct lane_finds *finds,
                     struct cn_error *err)
{
    struct step *step = cn_alloc(1, sizeof(*step));

    step->lanes = lanes;
    step->plans = cn_alloc(lanes->count, sizeof(*step->plans));
    for (unsigned i = 0; i < lanes->count; i++) {
        step->plans[i] = plan_lane(lanes, finds, i);
        /* The spans of all lanes include these. */
        if (lanes->has_before)
            step->plans[i].previous = CN_LANE_NO_SEGMENT;
    }
    bool ok = do_step(step, open_one, err);
    free(step->plans);
    free(step);
    return ok;
}

static bool open_lanes(struct cn_store_lanes *lanes, struct cn_error *err)
{
    struct lane_finds finds;
    bool ok;

    if (!find_segments(&finds, lanes->path, err))
        return false;
    ok = check_newest(&finds, lanes->path, err);
    for (size_t i = 0; i < finds.count; i++)
        if (!finds.list[i].is_unfinished)
            lanes->first_number = finds.list[i].number + 1;
    ok = ok && seal_others(lanes, &finds, err);
    if (ok)
        know_spans(lanes, &finds);
    lanes->numbers.next = lanes->first_number + lanes->count;
    ok = ok && open_all(lanes, &finds, err);
    lanes->has_opened = true;
    free(finds.list);
    return ok;
}

bool cn_store_lanes_open(struct cn_store_lanes **out, const char *path, unsigned count,
                         const struct cn_store_options *options, struct cn_error *err)
{
    struct cn_store_lanes *lanes = cn_alloc(1, sizeof(*lanes));

    if (options)
        lanes->options = *options;
    if (!lanes->options.io)
        lanes->options.io = &cn_disk_files;
    lanes->path = cn_strdup(path);
    lanes->lock_fd = -1;
    cn_lock_init(&lanes->numbers.lock);
    lanes->count = count < 1                    ? 1
                   : count > CN_STORE_LANES_MAX ? CN_STORE_LANES_MAX
                                                : count;
    if (!cn_store_config_read(&lanes->config, path, err) ||
        !cn_store_lock(path, &lanes->lock_fd, err) || !cn_segments_clean(path, 0, err) ||
        !open_lanes(lanes, err)) {
        cn_store_lanes_abandon(lanes);
        return false;
    }
    *out = lanes;
    return true;
}

struct cn_segment_numbers *cn_store_lanes_numbers(struct cn_store_lanes *lanes)
{
    return &lanes->numbers;
}

struct cn_store_writer *cn_store_lane(const struct cn_store_lanes *lanes, unsigned i)
{
    return lanes->writers[i];
}

void cn_store_lane_drop(struct cn_store_lanes *lanes, unsigned i)
{
    cn_store_writer_abandon(lanes->writers[i]);
    lanes->writers[i] = NULL;
}

/* Segments of this lane that are full are sealed now, if nothing else did. */
static bool seal_own(const struct cn_store_lanes *lanes, const struct lane_finds *finds,
                     const struct cn_lane_plan *plan, struct cn_error *err)
{
    for (size_t i = 0; i < finds->count; i++) {
        const struct lane_found *found = &finds->list[i];

        if (!found->is_sealed && !found->is_empty && found->number != plan->current &&
            strcmp(found->lane, plan->config.lane) == 0 &&
            !cn_segment_seal(lanes->path, found->number, lanes->options.io, err))
            return false;
    }
    return true;
}

bool cn_store_lane_reopen(struct cn_store_lanes *lanes, unsigned i, struct cn_error *err)
{
    struct cn_lane_plan plan;
    struct lane_finds finds;

    cn_store_lane_drop(lanes, i);
    if (!find_segments(&finds, lanes->path, err))
        return false;
    plan = plan_lane(lanes, &finds, i);
    bool ok = seal_own(lanes, &finds, &plan, err) &&
              cn_store_writer_open_lane(&lanes->writers[i], &plan, &lanes->options, err);
    free(finds.list);
    return ok;
}

unsigned cn_store_lane_of(const char *sender, unsigned count)
{
    return (unsigned)(XXH3_64bits(sender, strlen(sender)) % count);
}

unsigned cn_store_lane_of_trace(uint64_t id_high, uint64_t id_low, unsigned count)
{
    uint64_t id[2] = {id_high, id_low};

    return (unsigned)(XXH3_64bits(id, sizeof(id)) % count);
}

bool cn_store_lanes_close(struct cn_store_lanes *lanes, struct cn_error *err)
{
    struct step *step = cn_alloc(1, sizeof(*step));

    step->lanes = lanes;
    bool ok = do_step(step, close_one, err);
    free(step);
    cn_store_lanes_abandon(lanes);
    return ok;
}

void cn_store_lanes_release(struct cn_store_lanes *lanes)
{
    if (!lanes)
        return;
    cn_spans_seen_done(&lanes->before);
    cn_store_unlock(lanes->lock_fd);
    cn_lock_done(&lanes->numbers.lock);
    free(lanes->path);
    free(lanes);
}

void cn_store_lanes_abandon(struct cn_store_lanes *lanes)
{
    for (unsigned i = 0; lanes && i < lanes->count; i++)
        cn_store_writer_abandon(lanes->writers[i]);
    cn_store_lanes_release(lanes);
}
