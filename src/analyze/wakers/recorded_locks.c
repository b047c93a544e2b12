#include "analyze/wakers/recorded_locks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/wakers/lock_events.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/calls/recording.h"

/* A variable that is not larger is the lock. */
enum { LOCK_LEN_MAX = 64 };

/* So many holds, and so many losses, are looked at for a wait; with more, what it was for is unknown. */
enum { LOOKS_MAX = 1000 };

/* A time in which a task had a lock; of what only wakes, the call that did. */
struct hold {
    uint64_t end_ns; /* first, for the search; UINT64_MAX: it still has it */
    uint64_t begin_ns;
    uint32_t task, taken, given; /* paths; 0: unknown */
    bool is_shared, is_counted;
    /* Records that were lost have its end, which was not before `lost_ns`, or its last begin. */
    bool is_lost;
    uint64_t lost_ns;
};

/* What happens to a lock at a time. */
struct change {
    uint64_t time_ns;
    uint32_t task, path;
    bool is_given, is_shared;
};

struct lock_build {
    struct cn_lock_rows *rows;
    struct cn_lock_events events;
    const struct cn_recording *rec;
    struct cn_map row_of, has_waited;
    struct hold *holds; /* of the lock that is looked at, by end */
    struct hold *lost;  /* those that are lost, by end */
    struct change *changes;
    size_t hold_count, hold_capacity, change_count, change_capacity;
    size_t lost_count, lost_capacity;
    struct cn_text text;
};

static const char *keep_path(struct lock_build *b, uint32_t path, bool is_whole)
{
    if (path == 0)
        return NULL;
    cn_text_clear(&b->text);
    cn_lock_path_print(&b->events, path, is_whole, &b->text);
    return cn_arena_strdup(&b->rows->arena, cn_text_str(&b->text));
}

static void change(struct lock_build *b, const struct cn_lock_event *event,
                   uint64_t time_ns, bool is_given, bool is_shared)
{
    CN_PUSH(b->changes, b->change_count, b->change_capacity,
            (struct change){time_ns, event->task, event->path, is_given, is_shared});
}

/* The changes of a lock by a call of it, or by one that gives it back while it sleeps. */
static void add_changes(struct lock_build *b, const struct cn_lock_event *event,
                        bool is_second)
{
    enum cn_lock_action action = event->call->action;
    bool is_shared = action == CN_LOCK_TAKES_SHARED || action == CN_LOCK_TRIES_SHARED;

    if (is_second || action == CN_LOCK_GIVES)
        change(b, event, event->begin_ns, true, false);
    if ((is_second || action <= CN_LOCK_TRIES_SHARED) && !event->has_failed &&
        event->end_ns != UINT64_MAX)
        change(b, event, event->end_ns, false, is_shared);
}

/* The loss of records, up to a time, in which a task may have given the lock back; NULL: there is none. */
static const struct cn_lock_loss *loss_in(const struct lock_build *b,
                                          const struct hold *hold, uint64_t until_ns)
{
    const struct cn_lock_loss *loss =
        cn_lock_events_loss(&b->events, hold->task, hold->begin_ns);

    return loss && loss->begin_ns < until_ns ? loss : NULL;
}

static void lose_hold(struct hold *hold, const struct cn_lock_loss *loss)
{
    hold->is_lost = true;
    hold->lost_ns = loss->begin_ns;
    hold->end_ns = loss->end_ns;
}

/* Take those that are lost out of the holds: it is not known when their lock was given back. */
static void list_lost(struct lock_build *b)
{
    size_t kept = 0;

    b->lost_count = 0;
    for (size_t i = 0; i < b->hold_count; i++) {
        struct hold *hold = &b->holds[i];
        const struct cn_lock_loss *loss =
            hold->end_ns == UINT64_MAX ? loss_in(b, hold, UINT64_MAX) : NULL;

        if (loss)
            lose_hold(hold, loss);
        if (hold->is_lost)
            CN_PUSH(b->lost, b->lost_count, b->lost_capacity, *hold);
        else
            b->holds[kept++] = *hold;
    }
    b->hold_count = kept;
    if (b->lost_count > 0)
        CN_SORT(b->lost, b->lost_count, CN_UP(struct hold, end_ns),
                CN_UP(struct hold, begin_ns));
}

/* What a task has of the lock at a time of its changes. A mutex may be taken several times. */
struct owned {
    size_t hold; /* its number, plus one; 0: none */
    uint32_t level;
};

/* From what was taken and given back, the times in which tasks had the lock. A task that took it more than
 * once has it until it has given it back as often. */
static void make_holds(struct lock_build *b)
{
    struct owned *list = cn_alloc(b->change_count + 1, sizeof(*list));
    struct cn_map owned_by = {0}; /* by task, in the list */

    CN_SORT(b->changes, b->change_count, CN_UP(struct change, time_ns),
            CN_DOWN(struct change, is_given));
    for (size_t i = 0; i < b->change_count; i++) {
        const struct change *at = &b->changes[i];
        struct owned *owned =
            &list[*cn_map_at(&owned_by, at->task, (uint32_t)owned_by.count)];
        struct hold *hold = owned->hold > 0 ? &b->holds[owned->hold - 1] : NULL;
        const struct cn_lock_loss *loss = hold ? loss_in(b, hold, at->time_ns) : NULL;

        if (at->is_given && hold && (--owned->level == 0 || loss)) {
            hold->end_ns = at->time_ns;
            hold->given = at->path;
            /* It may have been taken among what was lost. */
            hold->taken = loss ? 0 : hold->taken;
            *owned = (struct owned){0};
        } else if (loss) {
            lose_hold(hold, loss);
            *owned = (struct owned){0};
        }
        if (at->is_given || owned->level++ > 0)
            continue;
        CN_PUSH(b->holds, b->hold_count, b->hold_capacity,
                (struct hold){.end_ns = UINT64_MAX,
                              .begin_ns = at->time_ns,
                              .task = at->task,
                              .taken = at->path,
                              .is_shared = at->is_shared});
        owned->hold = b->hold_count;
    }
    cn_map_done(&owned_by);
    free(list);
    list_lost(b);
}

/* Calls that wake are as holds that end with them. */
static void add_waking(struct lock_build *b, const struct cn_lock_event *event)
{
    CN_PUSH(b->holds, b->hold_count, b->hold_capacity,
            (struct hold){
                .end_ns = event->begin_ns, .task = event->task, .given = event->path});
}

static bool is_in_way(const struct hold *hold, const struct cn_lock_event *event)
{
    bool is_shared = event->call->action == CN_LOCK_TAKES_SHARED;

    return hold->task != event->task && hold->begin_ns < event->end_ns &&
           !(is_shared && hold->is_shared);
}

/* The last one that ends while the call waits, or has not ended; NULL: it did not wait, or it is not known
 * for whom, as there are too many that are not in its way. */
static struct hold *find_giver(struct lock_build *b, const struct cn_lock_event *event,
                               bool *are_too_many)
{
    size_t at = b->hold_count > 0 ? cn_search_u64(&b->holds->end_ns, b->hold_count,
                                                  sizeof(*b->holds), event->end_ns)
                                  : 0;

    *are_too_many = false;
    for (size_t looks = 0; at-- > 0 && b->holds[at].end_ns > event->begin_ns; looks++) {
        *are_too_many = looks == LOOKS_MAX;
        if (*are_too_many)
            return NULL;
        if (is_in_way(&b->holds[at], event))
            return &b->holds[at];
    }
    return NULL;
}

/* True if the lock may have been given back later than at a time, while the call waited, among lost records. */
static bool may_be_lost(const struct lock_build *b, const struct cn_lock_event *event,
                        uint64_t after_ns)
{
    size_t at = b->lost_count > 0 ? cn_search_u64(&b->lost->end_ns, b->lost_count,
                                                  sizeof(*b->lost), after_ns)
                                  : 0;

    for (size_t looks = 0; at < b->lost_count && looks < LOOKS_MAX; at++, looks++)
        if (b->lost[at].lost_ns < event->end_ns && is_in_way(&b->lost[at], event))
            return true;
    return at < b->lost_count;
}

/* The name of a lock: its variable, or where it is waited for first. */
static const char *name_lock(struct lock_build *b, const struct cn_lock_event *event,
                             bool *is_variable)
{
    uint32_t at =
        cn_recording_find_function(b->rec, event->task, event->begin_ns, event->address);
    const struct cn_mapping *mapping =
        cn_recording_mapping_at(b->rec, event->task, event->begin_ns, event->address);
    const char *kind = cn_lock_kind_names[event->call->kind];
    struct cn_text place = {0};

    *is_variable = at != CN_NONE;
    if (!*is_variable) {
        cn_lock_path_print(&b->events, b->events.paths[event->path].parent, false,
                           &place);
        const char *arrow = strstr(cn_text_str(&place), " → ");
        const char *name =
            cn_arena_printf(&b->rows->arena, "%s of %s", kind,
                            arrow ? arrow + strlen(" → ") : cn_text_str(&place));
        cn_text_done(&place);
        return name;
    }
    const struct cn_call_function *variable = &b->rec->functions[at];
    uint64_t off = mapping ? event->address - mapping->begin - variable->offset : 0;
    if (variable->size <= LOCK_LEN_MAX || off >= variable->size || off == 0)
        return cn_arena_printf(&b->rows->arena, "%s %s", kind, variable->name);
    return cn_arena_printf(&b->rows->arena, "%s %s+0x%" PRIx64, kind, variable->name,
                           off);
}

static struct cn_lock_row *row_at(struct lock_build *b, const struct cn_lock_event *event,
                                  const struct hold *hold, uint32_t *number)
{
    const char *thread = hold ? b->rec->tasks[hold->task].name : "";
    uint64_t key[] = {event->pid, event->address, hold ? hold->given : 0,
                      hold ? hold->taken : 0, XXH3_64bits(thread, strlen(thread))};
    uint32_t at = *number =
        *cn_map_at(&b->row_of, XXH3_64bits(key, sizeof(key)), (uint32_t)b->rows->count);

    if (at < b->rows->count)
        return &b->rows->list[at];
    struct cn_lock_row row = {.address = event->address, .process = event->pid};
    row.lock = name_lock(b, event, &row.is_variable);
    if (hold) {
        row.thread = cn_arena_strdup(&b->rows->arena, thread);
        row.released_in = keep_path(b, hold->given, false);
        row.taken_in = keep_path(b, hold->taken, false);
        row.taken_path = keep_path(b, hold->taken, true);
    }
    CN_PUSH(b->rows->list, b->rows->count, b->rows->capacity, row);
    return &b->rows->list[at];
}

static void add_kept(struct cn_lock_row *row, struct hold *hold, uint64_t last_ns)
{
    uint64_t end_ns = hold->end_ns != UINT64_MAX ? hold->end_ns : last_ns;
    uint64_t kept_ns = end_ns > hold->begin_ns ? end_ns - hold->begin_ns : 0;

    if (hold->taken == 0 || hold->is_counted)
        return;
    hold->is_counted = true;
    row->kept_ns += kept_ns;
    row->kept_count++;
    if (kept_ns > row->longest_kept_ns)
        row->longest_kept_ns = kept_ns;
}

static void add_wait(struct lock_build *b, const struct cn_lock_event *event)
{
    uint64_t end_ns = event->end_ns != UINT64_MAX ? event->end_ns : b->events.last_ns;
    bool are_too_many;
    struct hold *hold = find_giver(b, event, &are_too_many);
    bool is_unknown =
        are_too_many || may_be_lost(b, event, hold ? hold->end_ns : event->begin_ns);
    uint32_t number;

    if (is_unknown)
        hold = NULL;
    if (end_ns <= event->begin_ns ||
        (!hold && !is_unknown && event->call->action != CN_LOCK_SLEEPS))
        return;
    struct cn_lock_row *row = row_at(b, event, hold, &number);
    uint64_t ns = end_ns - event->begin_ns;
    uint32_t *has_waited =
        cn_map_at(&b->has_waited, (uint64_t)number << 32 | event->task, 0);
    row->waiter_count += *has_waited == 0;
    *has_waited = 1;
    row->time_ns += ns;
    row->count++;
    if (ns > row->longest_ns) {
        row->longest_ns = ns;
        row->longest_at_ns = event->begin_ns;
        row->waits = keep_path(b, event->path, false);
    }
    if (hold)
        add_kept(row, hold, b->events.last_ns);
}

static bool waits(enum cn_lock_action action)
{
    return action == CN_LOCK_TAKES || action == CN_LOCK_TAKES_SHARED ||
           action == CN_LOCK_SLEEPS || action == CN_LOCK_AWAITS ||
           action == CN_LOCK_MEETS;
}

static bool is_of_lock(const struct cn_lock_event *event, const struct cn_lock_event *of)
{
    return event->pid == of->pid && event->address == of->address;
}

/* The events from `first` to `end` are of one lock, `seconds` are those that give it back while they sleep. */
static void add_lock(struct lock_build *b, size_t first, size_t end,
                     const struct cn_lock_event *seconds, size_t second_count)
{
    const struct cn_lock_event *list = b->events.list;

    b->hold_count = b->change_count = 0;
    for (size_t i = first; i < end; i++)
        add_changes(b, &list[i], false);
    for (size_t i = 0; i < second_count; i++)
        add_changes(b, &seconds[i], true);
    make_holds(b);
    for (size_t i = first; i < end; i++)
        if (list[i].call->action == CN_LOCK_WAKES ||
            list[i].call->action == CN_LOCK_MEETS)
            add_waking(b, &list[i]);
    if (b->hold_count > 0)
        CN_SORT(b->holds, b->hold_count, CN_UP(struct hold, end_ns),
                CN_UP(struct hold, begin_ns));
    for (size_t i = first; i < end; i++)
        if (waits(list[i].call->action) && !list[i].is_cut)
            add_wait(b, &list[i]);
}

/* Those that sleep, by the mutex that they give back. */
static struct cn_lock_event *list_seconds(const struct cn_lock_events *events,
                                          size_t *count)
{
    struct cn_lock_event *list = cn_alloc(events->count + 1, sizeof(*list));

    *count = 0;
    for (size_t i = 0; i < events->count; i++)
        if (events->list[i].call->action == CN_LOCK_SLEEPS &&
            events->list[i].second != 0) {
            list[*count] = events->list[i];
            list[(*count)++].address = events->list[i].second;
        }
    CN_SORT(list, *count, CN_UP(struct cn_lock_event, pid),
            CN_UP(struct cn_lock_event, address), CN_UP(struct cn_lock_event, begin_ns));
    return list;
}

static bool is_before(const struct cn_lock_event *a, const struct cn_lock_event *b)
{
    return a->pid < b->pid || (a->pid == b->pid && a->address < b->address);
}

bool cn_recorded_locks_build(struct cn_lock_rows *rows, const struct cn_recording *rec,
                             size_t *call_count, size_t *without_address,
                             struct cn_error *err)
{
    struct lock_build b = {.rows = rows, .rec = rec};
    size_t second_count, second = 0, to;

    *rows = (struct cn_lock_rows){0};
    bool ok = cn_lock_events_read(&b.events, rec, err);
    struct cn_lock_event *seconds = list_seconds(&b.events, &second_count);
    for (size_t i = 0, end; i < b.events.count; i = end) {
        const struct cn_lock_event *event = &b.events.list[i];

        for (end = i; end < b.events.count && is_of_lock(&b.events.list[end], event);)
            end++;
        while (second < second_count && is_before(&seconds[second], event))
            second++;
        for (to = second; to < second_count && is_of_lock(&seconds[to], event);)
            to++;
        add_lock(&b, i, end, seconds + second, to - second);
        second = to;
    }
    *call_count = b.events.count;
    *without_address = b.events.without_address;
    cn_lock_rows_finish(rows);
    free(seconds);
    cn_lock_events_done(&b.events);
    cn_map_done(&b.row_of);
    cn_map_done(&b.has_waited);
    cn_text_done(&b.text);
    free(b.holds);
    free(b.lost);
    free(b.changes);
    return ok;
}
