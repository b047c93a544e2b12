/* The frames of Python at the moment of a sample: languages/python.c reads the same from outside.
 *
 * Part of unwind.bpf.c. The memory of the process is not trusted: what can not be read ends the
 * walk, and loops are bounded.
 */
#ifndef CN_SAMPLER_KERNEL_PYTHON_BPF_H
#define CN_SAMPLER_KERNEL_PYTHON_BPF_H

enum {
    PYTHON_THREADS_MAX = 512,
    PYTHON_OWNER_NONE = 3,
    PYTHON_WORDS_MAX = CN_KERNEL_PYTHON_WORDS * CN_KERNEL_PYTHON_FRAMES_MAX,
    PYTHON_LAST = PYTHON_WORDS_MAX - CN_KERNEL_PYTHON_WORDS, /* frame */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, CN_KERNEL_PROCESSES_MAX);
    __type(key, uint32_t);
    __type(value, struct cn_kernel_python);
} pythons SEC(".maps");

/* The states of threads that were found, by process and thread. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, CN_KERNEL_PROCESSES_MAX);
    __type(key, uint64_t);
    __type(value, uint64_t);
} python_threads SEC(".maps");

struct python_walk {
    uint64_t interpreter, state, frame;
    uint32_t tid;
    bool is_found, has_failed;
    bool is_inner; /* the last frame was not the first of its call */
    uint8_t bytes[CN_KERNEL_PYTHON_FRAME_LEN]; /* of the frame that is read */
    struct {
        struct cn_kernel_record head;
        uint64_t words[PYTHON_WORDS_MAX];
    } record;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct python_walk);
} python_walks SEC(".maps");

struct python_loop {
    struct python_walk *walk;
    const struct cn_kernel_python *layout;
};

static __always_inline bool is_python_thread(const struct cn_kernel_python *layout,
                                             uint64_t state, uint32_t tid)
{
    uint64_t id = 0;
    uint32_t number = 0;

    if (!read_user(&id, sizeof(id), state + layout->thread_id))
        return false;
    if (layout->tid_off == 0)
        return id == tid;
    return read_user(&number, sizeof(number), id + layout->tid_off) && number == tid;
}

/* One thread; after the last one of an interpreter, the first of the next. */
static long find_python_thread(uint32_t index, void *arg)
{
    struct python_loop *loop = arg;
    struct python_walk *w = loop->walk;
    const struct cn_kernel_python *layout = loop->layout;
    uint64_t owner = 0;

    (void)index;
    if (w->state == 0) {
        if (w->interpreter == 0 ||
            !read_user(&w->state, sizeof(w->state),
                       w->interpreter + layout->interpreter_threads))
            return 1;
        if (w->state == 0 && !read_user(&w->interpreter, sizeof(w->interpreter),
                                        w->interpreter + layout->interpreter_next))
            return 1;
        return 0;
    }
    if (!read_user(&owner, sizeof(owner), w->state + layout->thread_interpreter) ||
        owner != w->interpreter)
        return 1;
    w->is_found = is_python_thread(layout, w->state, w->tid);
    if (w->is_found)
        return 1;
    if (!read_user(&w->state, sizeof(w->state), w->state + layout->thread_next))
        return 1;
    if (w->state == 0 && !read_user(&w->interpreter, sizeof(w->interpreter),
                                    w->interpreter + layout->interpreter_next))
        return 1;
    return 0;
}

static __always_inline uint64_t python_word(const struct python_walk *w, uint32_t off)
{
    return *(const uint64_t *)(w->bytes + (off & (CN_KERNEL_PYTHON_FRAME_LEN - 8)));
}

/* One frame; 1 ends the loop. */
static long step_python(uint32_t index, void *arg)
{
    struct python_loop *loop = arg;
    struct python_walk *w = loop->walk;
    const struct cn_kernel_python *layout = loop->layout;
    uint32_t len = layout->frame_len, at = w->record.head.count;
    uint64_t previous, code, name = 0, lines = 0;
    uint8_t entry;

    (void)index;
    if (w->frame == 0)
        return 1;
    if (len > CN_KERNEL_PYTHON_FRAME_LEN || at > PYTHON_LAST)
        return 1;
    if (!read_user(w->bytes, len, w->frame)) {
        w->has_failed = true;
        return 1;
    }
    previous = python_word(w, layout->frame_previous);
    entry = w->bytes[layout->frame_entry & (CN_KERNEL_PYTHON_FRAME_LEN - 1)];
    if (layout->entry == CN_KERNEL_PYTHON_SHIM && entry >= PYTHON_OWNER_NONE) {
        uint32_t last = at - CN_KERNEL_PYTHON_WORDS;

        if (w->is_inner && last <= PYTHON_LAST) {
            w->record.words[last] |= CN_KERNEL_PYTHON_FIRST;
        } else if (previous != 0) {
            /* A call that has no frame, as it ends. The outermost may be of the thread. */
            w->record.words[at] = CN_KERNEL_PYTHON_FIRST;
            w->record.words[at + 1] = w->record.words[at + 2] = 0;
            w->record.head.count = at + CN_KERNEL_PYTHON_WORDS;
        }
        w->is_inner = false;
    } else {
        bool is_first = layout->entry == CN_KERNEL_PYTHON_EACH ||
                        (layout->entry == CN_KERNEL_PYTHON_FLAG && entry != 0);

        code = python_word(w, layout->frame_code) & ~(uint64_t)CN_KERNEL_PYTHON_TAGS;
        w->record.words[at] = code | (is_first ? CN_KERNEL_PYTHON_FIRST : 0);
        w->record.words[at + 1] = python_word(w, layout->frame_instruction);
        w->record.words[at + 2] = 0;
        if (read_user(&name, sizeof(name), code + layout->code_name) &&
            read_user(&lines, sizeof(lines), code + layout->code_lines))
            w->record.words[at + 2] = name + lines;
        w->record.head.count = at + CN_KERNEL_PYTHON_WORDS;
        w->is_inner = !is_first;
    }
    w->frame = previous;
    return 0;
}

/* Leave the frames of the sampled thread in the ring. False if the sampler must find them; a
 * thread that does not run Python has none. */
static __always_inline bool walk_python(const struct cn_kernel_python *layout,
                                        uint64_t task, uint64_t time_ns)
{
    uint32_t zero = 0, count;
    struct python_walk *w = bpf_map_lookup_elem(&python_walks, &zero);
    uint64_t *known = bpf_map_lookup_elem(&python_threads, &task);
    struct python_loop loop = {w, layout};

    if (!w)
        return false;
    w->record.head = (struct cn_kernel_record){
        .kind = CN_KERNEL_PYTHON,
        .pid = (uint32_t)(task >> 32),
        .tid = (uint32_t)task,
        .time_ns = time_ns,
    };
    w->tid = (uint32_t)task;
    w->state = known ? *known : 0;
    w->is_found = known && is_python_thread(layout, w->state, w->tid);
    w->has_failed = w->is_inner = false;
    if (!w->is_found) {
        w->state = 0;
        if (!read_user(&w->interpreter, sizeof(w->interpreter), layout->interpreters))
            return false;
        bpf_loop(PYTHON_THREADS_MAX, find_python_thread, &loop, 0);
        if (!w->is_found)
            return true;
        bpf_map_update_elem(&python_threads, &task, &w->state, BPF_ANY);
    }
    if (!read_user(&w->frame, sizeof(w->frame), w->state + layout->thread_frame) ||
        (layout->has_cframe &&
         !read_user(&w->frame, sizeof(w->frame), w->frame + layout->cframe_frame)))
        return false;
    bpf_loop(CN_KERNEL_PYTHON_FRAMES_MAX, step_python, &loop, 0);
    count = w->record.head.count;
    if (w->has_failed || count > PYTHON_WORDS_MAX)
        return false;
    return bpf_ringbuf_output(&ring, &w->record,
                              sizeof(w->record.head) + count * sizeof(uint64_t),
                              BPF_RB_NO_WAKEUP) == 0;
}

#endif
