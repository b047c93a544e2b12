/* The frames of an interpreter at the moment of a sample: languages/frame_walk.h.
 *
 * Part of unwind.bpf.c. The memory of the process is not trusted: what can not be read ends the
 * walk, and loops are bounded.
 */
#ifndef CN_SAMPLER_KERNEL_FRAMES_BPF_H
#define CN_SAMPLER_KERNEL_FRAMES_BPF_H

#define CN_FRAME_INLINE static __always_inline
#define CN_FRAME_COPY(walk, out, len, address) \
    ((void)(walk), read_user(out, len, address))
#include "sampler/languages/frame_steps.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, CN_KERNEL_PROCESSES_MAX);
    __type(key, uint32_t);
    __type(value, struct cn_frame_table);
} interpreters SEC(".maps");

/* The states of threads that were found in lists, by process and thread. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, CN_KERNEL_PROCESSES_MAX);
    __type(key, uint64_t);
    __type(value, uint64_t);
} thread_states SEC(".maps");

/* One for each processor. A map with a copy for each may have smaller values only. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct cn_frame_walk);
} frame_walks SEC(".maps");

/* The objects that were copied the last time, by a hash of their addresses. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1 << CN_FRAME_OBJECT_BITS);
    __type(key, uint32_t);
    __type(value, uint64_t);
} objects SEC(".maps");

struct object_record {
    struct cn_kernel_record head;
    struct cn_frame_copies copies;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct object_record);
} object_records SEC(".maps");

/* What is used of the kernel's description of a task; where it is, is known when it is loaded. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct thread_struct {
#ifdef CN_MACHINE_aarch64
    struct {
        unsigned long tp_value;
    } uw;
#else
    unsigned long fsbase;
#endif
};

struct task_struct {
    struct thread_struct thread;
};
#pragma clang attribute pop

struct frame_loop {
    struct cn_frame_walk *walk;
    const struct cn_frame_table *table;
};

static long search_thread(uint32_t index, void *arg)
{
    struct frame_loop *loop = arg;

    (void)index;
    return !cn_frame_walk_search(loop->walk, loop->table);
}

static long step_frame(uint32_t index, void *arg)
{
    struct frame_loop *loop = arg;

    (void)index;
    return !cn_frame_walk_step(loop->walk, loop->table);
}

/* Where the memory of the thread for its own variables is. */
static __always_inline uint64_t thread_pointer(void)
{
    const struct task_struct *task = bpf_get_current_task_btf();

#ifdef CN_MACHINE_aarch64
    return task->thread.uw.tp_value;
#else
    return task->thread.fsbase;
#endif
}

/* Find the states of the sampled thread, in w->states. False if they can not be read. */
static __always_inline bool find_states(struct cn_frame_walk *w,
                                        const struct cn_frame_table *t, uint64_t task,
                                        const struct user_registers *registers)
{
    uint64_t *known = bpf_map_lookup_elem(&thread_states, &task), first;
    struct frame_loop loop = {w, t};
    bool is_over = false;

    w->state_count = 1;
    w->states[0] = t->root;
    if (t->root_kind == CN_FRAME_AT_ADDRESS)
        return true;
#ifdef CN_MACHINE_aarch64
    if (t->root_kind == CN_FRAME_IN_REGISTER) {
        w->states[0] = registers->x28;
        return true;
    }
#else
    (void)registers;
#endif
    if (t->root_kind == CN_FRAME_AT_THREAD)
        return cn_frame_walk_variable(w, t, thread_pointer());
    if (!cn_frame_walk_begin_search(w, t, known ? *known : 0, &is_over))
        return false;
    if (is_over)
        return true;
    bpf_loop(CN_FRAME_THREADS_MAX, search_thread, &loop, 0);
    first = w->states[0];
    if (w->state_count > 0)
        bpf_map_update_elem(&thread_states, &task, &first, BPF_ANY);
    return true;
}

/* The frames of one more state. */
static long walk_state(uint32_t index, void *arg)
{
    struct frame_loop *loop = arg;
    struct cn_frame_walk *w = loop->walk;

    w->state = w->states[index & (CN_FRAME_STATES_MAX - 1)];
    if (index >= w->state_count || w->state == 0 || w->has_failed)
        return 1;
    if (index == 0)
        cn_frame_walk_begin(w, loop->table);
    if (index == 0 ? !cn_frame_walk_enter(w, loop->table)
                   : !cn_frame_walk_enter_next(w, loop->table)) {
        w->has_failed = true;
        return 1;
    }
    bpf_loop(CN_FRAME_STEPS_MAX, step_frame, loop, 0);
    return 0;
}

/* Copy the object of a row that is seen for the first time. */
static long copy_object(uint32_t index, void *arg)
{
    struct frame_loop *loop = arg;
    struct cn_frame_walk *w = loop->walk;
    struct cn_frame_seen seen;
    uint32_t zero = 0, len;
    struct object_record *record;
    uint64_t *known;

    if (!cn_frame_object_find(w, loop->table, index, &seen))
        return 1;
    known = bpf_map_lookup_elem(&objects, &seen.slot);
    record = bpf_map_lookup_elem(&object_records, &zero);
    if (seen.address == 0 || !known || *known == seen.identity || !record)
        return 0;
    len = cn_frame_object_copy(w, loop->table, seen.address, &record->copies);
    record->head.kind = CN_KERNEL_OBJECT;
    record->head.pid = w->pid;
    record->head.tid = w->tid;
    record->head.count = len / sizeof(uint64_t);
    record->head.time_ns = w->time_ns;
    if (len <= sizeof(record->copies) &&
        bpf_ringbuf_output(&ring, record, sizeof(record->head) + len, BPF_RB_NO_WAKEUP) ==
            0)
        *known = seen.identity;
    return 0;
}

/* Leave the frames of the sampled thread in the ring. False if the sampler must find them; a
 * thread that runs none has none. */
static __always_inline bool walk_frames(const struct cn_frame_table *t, uint64_t task,
                                        uint64_t time_ns,
                                        const struct user_registers *registers)
{
    uint32_t cpu = bpf_get_smp_processor_id(), count;
    struct cn_frame_walk *w = bpf_map_lookup_elem(&frame_walks, &cpu);
    struct frame_loop loop = {w, t};
    struct cn_kernel_record *head;

    if (!w)
        return false;
    w->pid = (uint32_t)(task >> 32);
    w->tid = (uint32_t)task;
    w->time_ns = time_ns;
    w->has_failed = false;
    if (!find_states(w, t, task, registers))
        return false;
    if (w->state_count == 0 || w->states[0] == 0)
        return true;
    bpf_loop(CN_FRAME_STATES_MAX, walk_state, &loop, 0);
    count = w->found.word_count;
    if (w->has_failed || count > CN_FRAME_WORDS_MAX)
        return false;
    if (t->object.len > 0)
        bpf_loop(CN_FRAME_STEPS_MAX, copy_object, &loop, 0);
    head = (struct cn_kernel_record *)w->record_head;
    head->kind = CN_KERNEL_FRAMES;
    head->pid = w->pid;
    head->tid = w->tid;
    head->count = count;
    head->time_ns = time_ns;
    return bpf_ringbuf_output(&ring, w->record_head,
                              sizeof(*head) + sizeof(w->found) + count * sizeof(uint64_t),
                              BPF_RB_NO_WAKEUP) == 0;
}

#endif
