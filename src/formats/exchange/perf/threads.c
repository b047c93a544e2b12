#include "formats/exchange/perf/threads.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/locks.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

/* Fields of records of tasks. */
enum {
    COMM_TID_OFF = 4,
    COMM_NAME_OFF = 8,
    PARENT_PID_OFF = 4,
    TASK_TID_OFF = 8,
    PARENT_TID_OFF = 12,
    TASK_LEN = 16,
    SWITCH_CPU_WIDE_LEN = 8, /* before the fields that SWITCH has as well */
};

enum threads_state { UNKNOWN, RUNNING, WAITING, ENDED };

struct cn_perf_thread {
    uint32_t pid, tid, cpu;
    uint32_t number; /* in the import */
    bool is_numbered;
    enum threads_state state;
    enum cn_wait wait;              /* while WAITING */
    uint64_t since_ns;              /* when the state began */
    uint64_t running_ns;            /* in all */
    double weight;                  /* of its samples of the clock */
    bool is_shown_waiting;          /* in its timeline */
    bool is_resumed;                /* RUNNING again, without a sample since then */
    struct cn_perf_spot stopped_at; /* where the switch was */
    uint32_t stopped_for;           /* a lock of the import; CN_NONE: none */
    struct cn_thread_states states; /* over time */
    uint32_t processor;             /* while RUNNING; UINT32_MAX: unknown */
    uint64_t arrived_ns;            /* there */
    struct cn_thread_runs runs;
    const char *name; /* NULL: unknown */
};

/* The times of a spot in a thread. */
struct cn_perf_share {
    uint32_t thread;
    struct cn_perf_spot spot;
    double weight;       /* of samples of the clock */
    uint64_t stopped_ns; /* running times that ended here */
    uint64_t wait_ns[CN_WAIT_KINDS];
};

bool cn_perf_threads_init(struct cn_perf_threads *threads, struct cn_import *import,
                          struct cn_perf_latency *latency, bool has_states, uint64_t rank,
                          uint64_t epoch_ns, struct cn_error *err)
{
    static const char *const names[] = {CN_TIME_NAME, CN_CPU_TIME_NAME,
                                        CN_BLOCKED_TIME_NAME, CN_PREEMPTED_TIME_NAME};
    uint32_t metric;

    *threads = (struct cn_perf_threads){.import = import,
                                        .latency = latency,
                                        .has_states = has_states,
                                        .rank = rank,
                                        .epoch_ns = epoch_ns};
    for (size_t i = 0; has_states && i < sizeof(names) / sizeof(*names); i++) {
        if (!cn_import_metric(import, names[i], &metric, err))
            return false;
        if (i == 0)
            threads->time_metric = metric;
    }
    return true;
}

/* Idle tasks have the number 0 on all processors. */
static struct cn_perf_thread *thread_at(struct cn_perf_threads *threads, uint32_t pid,
                                        uint32_t tid, uint32_t cpu)
{
    uint64_t key = (uint64_t)pid << 32 | (pid == 0 && tid == 0 ? cpu : tid);
    uint32_t at = *cn_map_at(&threads->thread_of, key, (uint32_t)threads->count);

    if (at == threads->count) {
        CN_GROW(threads->list, at, threads->capacity);
        threads->list[threads->count++] = (struct cn_perf_thread){
            .pid = pid,
            .tid = tid,
            .cpu = cpu,
            .stopped_for = CN_NONE,
            .processor = UINT32_MAX,
        };
        if (tid != 0)
            *cn_map_at(&threads->last_of, tid, at) = at;
    }
    return &threads->list[at];
}

/* Add the thread to the import. */
static bool number(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                   struct cn_error *err)
{
    bool is_idle = thread->pid == 0 && thread->tid == 0 && thread->cpu != UINT32_MAX;
    struct cn_import_identity identity = {.name = ""};
    size_t count = 0;

    if (thread->is_numbered)
        return true;
    if (threads->rank != CN_PERF_NO_RANK) {
        identity.kinds[count] = "RANK";
        identity.numbers[count++] = threads->rank;
    }
    identity.kinds[count] = "PROCESS";
    identity.numbers[count++] = thread->pid;
    identity.kinds[count] = is_idle ? "CORE" : "THREAD";
    identity.numbers[count] = is_idle ? thread->cpu : thread->tid;
    thread->is_numbered =
        cn_import_thread(threads->import, &identity, &thread->number, err);
    return thread->is_numbered;
}

/* A thread that records of names and forks have described, by its number alone. */
static struct cn_perf_thread *find_thread(const struct cn_perf_threads *threads,
                                          uint32_t tid)
{
    uint32_t at = cn_map_find(&threads->last_of, tid, UINT32_MAX);

    return at < threads->count ? &threads->list[at] : NULL;
}

void cn_perf_threads_identify(const struct cn_perf_threads *threads,
                              struct cn_perf_sample *sample, enum cn_perf_sched_kind kind)
{
    const struct cn_perf_thread *thread;
    struct cn_perf_sched sched;

    if (sample->tid != UINT32_MAX || !cn_perf_sched_decode(kind, sample->raw, &sched))
        return;
    thread = find_thread(threads, sched.from);
    if (thread) {
        sample->pid = thread->pid;
        sample->tid = thread->tid;
    }
}

bool cn_perf_threads_of(struct cn_perf_threads *threads,
                        const struct cn_perf_sample *sample, uint32_t *out,
                        struct cn_error *err)
{
    struct cn_perf_thread *thread =
        thread_at(threads, sample->pid, sample->tid, sample->cpu);

    *out = (uint32_t)(thread - threads->list);
    return number(threads, thread, err);
}

uint32_t cn_perf_threads_number(const struct cn_perf_threads *threads, uint32_t thread)
{
    return threads->list[thread].number;
}

static struct cn_perf_share *share_at(struct cn_perf_threads *threads, uint32_t thread,
                                      struct cn_perf_spot spot)
{
    uint64_t key[2] = {thread, (uint64_t)spot.context << 32 | spot.point};
    uint32_t at = *cn_map_at(&threads->share_of, XXH3_64bits(key, sizeof(key)),
                             (uint32_t)threads->share_count);

    if (at == threads->share_count) {
        CN_GROW(threads->shares, at, threads->share_capacity);
        threads->shares[threads->share_count++] =
            (struct cn_perf_share){.thread = thread, .spot = spot};
    }
    return &threads->shares[at];
}

static uint64_t passed(const struct cn_perf_thread *thread, uint64_t now_ns)
{
    return now_ns > thread->since_ns ? now_ns - thread->since_ns : 0;
}

static bool is_idle(const struct cn_perf_thread *thread)
{
    return thread->pid == 0 && thread->tid == 0;
}

/* The thread ran on its processor until now, and from now on on another one. */
static void move(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                 uint64_t now_ns, uint32_t processor)
{
    if (thread->processor != UINT32_MAX && !is_idle(thread))
        cn_thread_runs_add(&thread->runs, thread->arrived_ns + threads->epoch_ns,
                           now_ns + threads->epoch_ns, thread->processor);
    thread->processor = processor;
    thread->arrived_ns = now_ns;
}

/* Without records of switches: it ran for a tick, or since the sample before. */
static void ran(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                const struct cn_perf_sample *sample, uint64_t tick_ns)
{
    uint64_t begin_ns = sample->time_ns > tick_ns ? sample->time_ns - tick_ns : 0;

    if (tick_ns == 0 || is_idle(thread))
        return;
    if (thread->arrived_ns > 0 && thread->arrived_ns < begin_ns &&
        begin_ns - thread->arrived_ns <= tick_ns)
        begin_ns = thread->arrived_ns;
    thread->arrived_ns = sample->time_ns;
    cn_thread_runs_add(&thread->runs, begin_ns + threads->epoch_ns,
                       sample->time_ns + threads->epoch_ns, sample->cpu);
}

/* Add the time of the current state, which ends now. */
static void leave(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                  uint64_t now_ns)
{
    uint64_t ns = passed(thread, now_ns);

    if (thread->state != RUNNING && thread->state != WAITING)
        return;
    struct cn_perf_share *share =
        share_at(threads, (uint32_t)(thread - threads->list), thread->stopped_at);
    if (thread->state == WAITING) {
        share->wait_ns[thread->wait] += ns;
    } else {
        share->stopped_ns += ns;
        thread->running_ns += ns;
        move(threads, thread, now_ns, UINT32_MAX);
    }
}

static enum cn_task_state task_state(enum threads_state state, enum cn_wait wait)
{
    return state == RUNNING          ? CN_TASK_RUNNING
           : state != WAITING        ? CN_TASK_UNKNOWN
           : wait == CN_WAIT_BLOCKED ? CN_TASK_BLOCKED
                                     : CN_TASK_PREEMPTED;
}

static void enter(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                  enum threads_state state, uint64_t now_ns)
{
    bool was_known = thread->state == RUNNING || thread->state == WAITING;

    thread->state = state;
    thread->since_ns = now_ns;
    if (was_known || state == RUNNING || state == WAITING)
        cn_thread_states_add(&thread->states, now_ns + threads->epoch_ns,
                             task_state(state, thread->wait),
                             state == WAITING ? thread->stopped_at.context : 0);
}

/* It continues in the call in which it stopped: that call is open all the time. */
static void resume(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                   uint64_t now_ns)
{
    if (!thread->is_resumed || thread->stopped_at.context == 0)
        return;
    cn_import_resume(threads->import, thread->number, now_ns + threads->epoch_ns,
                     thread->stopped_at.context);
    thread->is_shown_waiting = false;
}

/* The thread runs: where a record of a switch is missing, since now. */
static void run(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                uint64_t now_ns, uint32_t processor)
{
    if (thread->state == RUNNING && processor != UINT32_MAX &&
        processor != thread->processor)
        move(threads, thread, now_ns, processor);
    if (thread->state == RUNNING || thread->state == ENDED)
        return;
    leave(threads, thread, now_ns);
    thread->is_resumed = thread->state == WAITING;
    resume(threads, thread, now_ns);
    thread->stopped_at = (struct cn_perf_spot){0};
    thread->stopped_for = CN_NONE;
    enter(threads, thread, RUNNING, now_ns);
    thread->processor = processor;
    thread->arrived_ns = now_ns;
}

/* In a timeline, once for times without a sample between them. */
static void show_waiting(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                         uint64_t now_ns)
{
    if (!thread->is_numbered || thread->is_shown_waiting)
        return;
    cn_import_wait(threads->import, thread->number, now_ns + threads->epoch_ns);
    thread->is_shown_waiting = true;
}

static void note_lock(struct cn_perf_threads *threads,
                      const struct cn_perf_thread *thread)
{
    struct cn_lock_wait wait = {
        .time_ns = thread->states.list[thread->states.count - 1].time_ns,
        .profile = (uint32_t)(thread - threads->list),
        .lock = thread->stopped_for,
    };

    CN_PUSH(threads->lock_waits, threads->lock_wait_count, threads->lock_wait_capacity,
            wait);
}

static void stop(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                 enum cn_wait wait, uint64_t now_ns)
{
    if (thread->state == WAITING || thread->state == ENDED)
        return;
    leave(threads, thread, now_ns);
    thread->wait = wait;
    enter(threads, thread, WAITING, now_ns);
    if (wait == CN_WAIT_BLOCKED && thread->stopped_for != CN_NONE)
        note_lock(threads, thread);
    show_waiting(threads, thread, now_ns);
}

static void end(struct cn_perf_threads *threads, struct cn_perf_thread *thread,
                uint64_t now_ns)
{
    if (thread->state == RUNNING)
        show_waiting(threads, thread, now_ns);
    leave(threads, thread, now_ns);
    enter(threads, thread, ENDED, now_ns);
}

/* A new thread has the name of the one that made it. */
static void start(struct cn_perf_threads *threads, struct cn_bytes body, uint64_t time_ns)
{
    const struct cn_perf_thread *parent =
        thread_at(threads, cn_u32_get(body.ptr + PARENT_PID_OFF),
                  cn_u32_get(body.ptr + PARENT_TID_OFF), UINT32_MAX);
    struct cn_wakeup wakeup = {
        .time_ns = time_ns,
        .from = (uint32_t)(parent - threads->list),
        .source = CN_WOKEN_AT_START,
    };
    const char *name = parent->name;

    struct cn_perf_thread *thread = thread_at(
        threads, cn_u32_get(body.ptr), cn_u32_get(body.ptr + TASK_TID_OFF), UINT32_MAX);
    enter(threads, thread, UNKNOWN, thread->since_ns);
    thread->name = name;
    wakeup.to = (uint32_t)(thread - threads->list);
    if (threads->has_states && time_ns > 0)
        CN_PUSH(threads->wakeups, threads->wakeup_count, threads->wakeup_capacity,
                wakeup);
}

/* Switches name the thread in the fields that all records end with. */
static void take_switch(struct cn_perf_threads *threads, const struct cn_perf_file *file,
                        const struct cn_perf_record *record)
{
    struct cn_bytes ids;

    if (!cn_bytes_slice(record->body,
                        record->head.type == CN_PERF_SWITCH ? 0 : SWITCH_CPU_WIDE_LEN, 8,
                        &ids))
        return;
    uint32_t pid = cn_u32_get(ids.ptr);
    uint32_t tid = cn_u32_get(ids.ptr + 4);
    uint32_t processor = cn_perf_cpu_of(file, record);
    struct cn_perf_thread *thread = thread_at(threads, pid, tid, processor);
    if (!(record->head.misc & CN_PERF_MISC_SWITCH_OUT))
        run(threads, thread, record->time_ns, processor);
    else
        stop(threads, thread,
             record->head.misc & CN_PERF_MISC_SWITCH_OUT_PREEMPT ? CN_WAIT_PREEMPTED
                                                                 : CN_WAIT_BLOCKED,
             record->time_ns);
}

void cn_perf_threads_take(struct cn_perf_threads *threads,
                          const struct cn_perf_file *file,
                          const struct cn_perf_record *record)
{
    struct cn_bytes body = record->body;
    struct cn_perf_thread *thread;

    if (record->time_ns > threads->last_ns)
        threads->last_ns = record->time_ns;
    switch (record->head.type) {
    case CN_PERF_SWITCH:
    case CN_PERF_SWITCH_CPU_WIDE:
        if (threads->has_states)
            take_switch(threads, file, record);
        break;
    case CN_PERF_COMM:
        if (body.len < COMM_NAME_OFF)
            break;
        thread = thread_at(threads, cn_u32_get(body.ptr),
                           cn_u32_get(body.ptr + COMM_TID_OFF), UINT32_MAX);
        if (cn_bytes_string(body, COMM_NAME_OFF))
            thread->name =
                cn_arena_strdup(&threads->arena, cn_bytes_string(body, COMM_NAME_OFF));
        /* Without a time, it describes a thread that existed before. */
        if (threads->has_states && record->time_ns > 0)
            run(threads, thread, record->time_ns, cn_perf_cpu_of(file, record));
        break;
    case CN_PERF_FORK:
    case CN_PERF_EXIT:
        if (body.len < TASK_LEN)
            break;
        thread = thread_at(threads, cn_u32_get(body.ptr),
                           cn_u32_get(body.ptr + TASK_TID_OFF), UINT32_MAX);
        if (record->head.type == CN_PERF_FORK)
            start(threads, body, record->time_ns);
        else if (threads->has_states)
            end(threads, thread, record->time_ns);
        break;
    default:
        break;
    }
}

void cn_perf_threads_sample(struct cn_perf_threads *threads, uint32_t at,
                            const struct cn_perf_sample *sample,
                            enum cn_perf_sample_kind kind, uint64_t tick_ns,
                            struct cn_perf_spot spot)
{
    struct cn_perf_thread *thread = &threads->list[at];

    if (sample->time_ns == 0)
        return;
    if (sample->time_ns > threads->last_ns)
        threads->last_ns = sample->time_ns;
    thread->is_shown_waiting = false;
    if (threads->has_states) {
        run(threads, thread, sample->time_ns, sample->cpu);
        /* What ran right after the switch is known only now. */
        if (thread->is_resumed && thread->since_ns + 1 < sample->time_ns)
            cn_import_resume(threads->import, thread->number,
                             thread->since_ns + 1 + threads->epoch_ns, spot.context);
        thread->is_resumed = false;
        if (kind == CN_PERF_OF_SWITCH)
            thread->stopped_at = spot;
        if (kind == CN_PERF_OF_CLOCK || kind == CN_PERF_OF_WORK) {
            thread->weight += (double)sample->period;
            share_at(threads, at, spot)->weight += (double)sample->period;
            if (!is_idle(thread))
                cn_perf_latency_sample(threads->latency, thread->number, spot, 1,
                                       sample->time_ns + threads->epoch_ns,
                                       (double)sample->period);
        }
    } else if (kind == CN_PERF_OF_CLOCK) {
        /* Nothing but missing ticks shows that it waits. */
        cn_import_tick(threads->import, thread->number, sample->period);
    }
    if (!threads->has_states) {
        ran(threads, thread, sample, tick_ns);
        if (!is_idle(thread))
            cn_perf_latency_tick(threads->latency, thread->number, spot,
                                 sample->time_ns + threads->epoch_ns, tick_ns);
    }
    cn_import_sample(threads->import, thread->number, sample->time_ns + threads->epoch_ns,
                     spot.context);
}

void cn_perf_threads_lock(struct cn_perf_threads *threads, uint32_t thread, uint32_t lock)
{
    threads->list[thread].stopped_for = lock;
}

bool cn_perf_threads_knows(const struct cn_perf_threads *threads, uint32_t tid)
{
    return find_thread(threads, tid) != NULL;
}

/* `from`: NULL if it is not known. */
static void wake(struct cn_perf_threads *threads, const struct cn_perf_sample *sample,
                 const struct cn_perf_sched *sched, const struct cn_perf_thread *from,
                 const struct cn_perf_thread *to, uint32_t context)
{
    struct cn_wakeup wakeup = {
        .time_ns = sample->time_ns,
        .from = CN_NONE,
        .to = (uint32_t)(to - threads->list),
        .context = context,
        .source = CN_WOKEN_BY_INTERRUPT,
    };

    if (!sched->is_from_hardware) {
        wakeup.from = from ? (uint32_t)(from - threads->list) : CN_NONE;
        wakeup.source = sched->is_from_interrupt ? CN_WOKEN_BY_SOFT_INTERRUPT
                        : from                   ? CN_WOKEN_BY_THREAD
                                                 : CN_WOKEN_BY_OTHER;
    }
    CN_PUSH(threads->wakeups, threads->wakeup_count, threads->wakeup_capacity, wakeup);
}

void cn_perf_threads_schedule(struct cn_perf_threads *threads,
                              const struct cn_perf_sample *sample,
                              enum cn_perf_sched_kind kind, uint32_t context)
{
    struct cn_perf_thread *from, *to;
    struct cn_perf_sched sched;

    if (sample->time_ns == 0 || !cn_perf_sched_decode(kind, sample->raw, &sched))
        return;
    from = find_thread(threads, sched.from);
    to = find_thread(threads, sched.to);
    if (kind == CN_PERF_SCHED_WAKE) {
        if (to)
            wake(threads, sample, &sched, from, to, context);
        return;
    }
    if (!threads->has_states)
        return;
    if (from)
        stop(threads, from, sched.is_preempted ? CN_WAIT_PREEMPTED : CN_WAIT_BLOCKED,
             sample->time_ns);
    if (to)
        run(threads, to, sample->time_ns, sample->cpu);
}

static bool add_share(struct cn_perf_threads *threads, const struct cn_perf_share *share,
                      uint32_t unknown, struct cn_error *err)
{
    const struct cn_perf_thread *thread = &threads->list[share->thread];
    uint32_t context = share->spot.context ? share->spot.context : unknown;
    double cpu_s = thread->weight > 0 ? 1e-9 * (double)thread->running_ns *
                                            share->weight / thread->weight
                                      : 1e-9 * (double)share->stopped_ns;
    double seconds[2 + CN_WAIT_KINDS] = {cpu_s, cpu_s};

    for (unsigned i = 0; i < CN_WAIT_KINDS; i++) {
        seconds[2 + i] = 1e-9 * (double)share->wait_ns[i];
        seconds[0] += seconds[2 + i];
    }
    for (uint32_t i = 0; i < 2 + CN_WAIT_KINDS; i++) {
        uint32_t metric = threads->time_metric + i;

        if (seconds[i] > 0 && share->spot.point > 0)
            cn_import_add_point(threads->import, thread->number, share->spot.point - 1,
                                metric, seconds[i]);
        if (seconds[i] > 0 && !cn_import_add(threads->import, thread->number, context,
                                             metric, seconds[i], err))
            return false;
    }
    return true;
}

/* When it ran; without samples of a clock, its latency is where it stopped. */
static void add_latency(struct cn_perf_threads *threads,
                        const struct cn_perf_thread *thread)
{
    const struct cn_state_change *list = thread->states.list;

    for (size_t i = 0; i + 1 < thread->states.count; i++) {
        struct cn_perf_spot spot = {.context = list[i + 1].context};

        if (list[i].state != CN_TASK_RUNNING)
            continue;
        uint64_t ns = cn_concurrency_add(&threads->latency->concurrency, thread->number,
                                         list[i].time_ns, list[i + 1].time_ns);
        if (thread->weight <= 0)
            cn_perf_latency_sample(threads->latency, thread->number, spot, ns,
                                   list[i + 1].time_ns, (double)ns);
    }
}

/* Those of threads that have data. */
static void add_wakeups(const struct cn_perf_threads *threads)
{
    for (size_t i = 0; i < threads->wakeup_count; i++) {
        struct cn_wakeup wakeup = threads->wakeups[i];
        const struct cn_perf_thread *to = &threads->list[wakeup.to];
        bool has_from = wakeup.from != CN_NONE && threads->list[wakeup.from].is_numbered;

        if (!to->is_numbered || (!has_from && wakeup.source == CN_WOKEN_AT_START))
            continue;
        if (!has_from && wakeup.source == CN_WOKEN_BY_THREAD)
            wakeup.source = CN_WOKEN_BY_OTHER;
        wakeup.from = has_from ? threads->list[wakeup.from].number : CN_NONE;
        wakeup.to = to->number;
        wakeup.time_ns += threads->epoch_ns;
        cn_import_wakeup(threads->import, &wakeup);
    }
}

static void add_lock_waits(const struct cn_perf_threads *threads)
{
    for (size_t i = 0; i < threads->lock_wait_count; i++) {
        struct cn_lock_wait wait = threads->lock_waits[i];
        const struct cn_perf_thread *thread = &threads->list[wait.profile];

        wait.profile = thread->number;
        if (thread->is_numbered)
            cn_import_lock_wait(threads->import, &wait);
    }
}

bool cn_perf_threads_finish(struct cn_perf_threads *threads, struct cn_error *err)
{
    uint32_t unknown = 0;

    for (size_t i = 0; i < threads->count; i++) {
        struct cn_perf_thread *thread = &threads->list[i];

        leave(threads, thread, threads->last_ns);
        enter(threads, thread, ENDED, threads->last_ns);
    }
    for (size_t i = 0; i < threads->share_count; i++) {
        const struct cn_perf_share *share = &threads->shares[i];

        if (share->spot.context == 0 && unknown == 0)
            unknown = cn_import_unknown(threads->import);
        if (!number(threads, &threads->list[share->thread], err) ||
            !add_share(threads, share, unknown, err))
            return false;
    }
    for (size_t i = 0; i < threads->count; i++) {
        struct cn_perf_thread *thread = &threads->list[i];

        if (thread->is_numbered && thread->name)
            cn_import_name_thread(threads->import, thread->number, thread->name);
        if (thread->is_numbered) {
            if (!is_idle(thread))
                add_latency(threads, thread);
            cn_import_states(threads->import, thread->number, &thread->states);
            cn_import_runs(threads->import, thread->number, &thread->runs);
        }
    }
    add_wakeups(threads);
    add_lock_waits(threads);
    return true;
}

static void finish_thread(struct cn_perf_thread *thread)
{
    cn_thread_states_done(&thread->states);
    cn_thread_runs_done(&thread->runs);
}

void cn_perf_threads_done(struct cn_perf_threads *threads)
{
    cn_map_done(&threads->thread_of);
    cn_map_done(&threads->share_of);
    cn_map_done(&threads->last_of);
    free(threads->wakeups);
    free(threads->lock_waits);
    cn_arena_done(&threads->arena);
    for (size_t i = 0; i < threads->count; i++)
        finish_thread(&threads->list[i]);
    free(threads->list);
    free(threads->shares);
    *threads = (struct cn_perf_threads){0};
}
