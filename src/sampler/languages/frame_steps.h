/* The steps of a walk (frame_walk.h), for the program in the kernel and for the sampler alike.
 *
 * Before it is included, CN_FRAME_INLINE is what functions begin with, and CN_FRAME_COPY(walk, out,
 * len, address) copies memory of the process; it is false if that can not be read. Functions that
 * return whether there is more are called a bounded number of times.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_FRAME_STEPS_H
#define CN_SAMPLER_LANGUAGES_FRAME_STEPS_H

#include "sampler/languages/frame_walk.h"

CN_FRAME_INLINE bool cn_frame_walk_u64(struct cn_frame_walk *w, uint64_t *out,
                                       uint64_t address)
{
    return CN_FRAME_COPY(w, out, sizeof(*out), address);
}

CN_FRAME_INLINE bool cn_frame_walk_is_thread(struct cn_frame_walk *w,
                                             const struct cn_frame_table *t,
                                             uint64_t state)
{
    uint64_t id = 0;
    uint32_t number = 0;

    if (!cn_frame_walk_u64(w, &id, state + t->thread_id))
        return false;
    if (t->tid_off == 0)
        return id == w->tid;
    return CN_FRAME_COPY(w, &number, sizeof(number), id + t->tid_off) && number == w->tid;
}

/* Where a thread points to the variables of modules. */
#if defined(__aarch64__) || defined(CN_MACHINE_aarch64)
enum { CN_FRAME_VECTOR_OFF = 0 };
#else
enum { CN_FRAME_VECTOR_OFF = 8 };
#endif

/* The state is a variable of the thread. Those of modules are in a vector that the thread points
 * to, 16 bytes for each module. */
CN_FRAME_INLINE bool cn_frame_walk_variable(struct cn_frame_walk *w,
                                            const struct cn_frame_table *t,
                                            uint64_t thread_pointer)
{
    uint64_t base = thread_pointer;

    if (t->root_module > 0 &&
        (!cn_frame_walk_u64(w, &base, base + CN_FRAME_VECTOR_OFF) ||
         !cn_frame_walk_u64(w, &base, base + 16 * (uint64_t)t->root_module)))
        return false;
    return cn_frame_walk_u64(w, &w->states[0], base + t->root);
}

/* One thread of lists; after the last one of an interpreter, the first of the next. False ends the
 * search. */
CN_FRAME_INLINE bool cn_frame_walk_search(struct cn_frame_walk *w,
                                          const struct cn_frame_table *t)
{
    uint64_t owner = 0;

    if (w->interpreter == 0)
        return false;
    if (w->state == 0) {
        if (!cn_frame_walk_u64(w, &w->state, w->interpreter + t->interpreter_threads))
            return false;
    } else {
        if (!cn_frame_walk_u64(w, &owner, w->state + t->thread_interpreter) ||
            owner != w->interpreter)
            return false;
        if (cn_frame_walk_is_thread(w, t, w->state)) {
            if (w->state_count >= CN_FRAME_STATES_MAX)
                return false;
            w->states[w->state_count++ & (CN_FRAME_STATES_MAX - 1)] = w->state;
            if (w->is_single)
                return false;
        }
        if (!cn_frame_walk_u64(w, &w->state, w->state + t->thread_next))
            return false;
    }
    return w->state != 0 ||
           cn_frame_walk_u64(w, &w->interpreter, w->interpreter + t->interpreter_next);
}

/* Is it in the list of its interpreter? One that was freed may still name its thread. */
CN_FRAME_INLINE bool cn_frame_walk_is_listed(struct cn_frame_walk *w,
                                             const struct cn_frame_table *t,
                                             uint64_t state)
{
    uint64_t before = 0, at = w->interpreter + t->interpreter_threads, listed = 0;

    if (!cn_frame_walk_u64(w, &before, state + t->thread_previous))
        return false;
    if (before != 0)
        at = before + t->thread_next;
    return cn_frame_walk_u64(w, &listed, at) && listed == state;
}

/* Begin to search lists, at the state that was found the last time if there is one interpreter.
 * `is_over` if that is still the one. */
CN_FRAME_INLINE bool cn_frame_walk_begin_search(struct cn_frame_walk *w,
                                                const struct cn_frame_table *t,
                                                uint64_t known, bool *is_over)
{
    uint64_t next = 0;

    w->state = 0;
    w->state_count = 0;
    if (!cn_frame_walk_u64(w, &w->interpreter, t->root) || w->interpreter == 0 ||
        !cn_frame_walk_u64(w, &next, w->interpreter + t->interpreter_next))
        return false;
    w->is_single = next == 0;
    *is_over = w->is_single && known != 0 && cn_frame_walk_is_thread(w, t, known) &&
               cn_frame_walk_is_listed(w, t, known);
    if (*is_over) {
        w->states[0] = known;
        w->state_count = 1;
    }
    return true;
}

/* Find the frames of the array w->array. */
CN_FRAME_INLINE bool cn_frame_walk_enter_array(struct cn_frame_walk *w,
                                               const struct cn_frame_table *t)
{
    int32_t last = 0;

    w->frame = w->end = 0;
    if (!CN_FRAME_COPY(w, &last, sizeof(last), w->array + t->count))
        return false;
    if (last < 0)
        return true;
    if (!cn_frame_walk_u64(w, &w->end, w->array + t->base))
        return false;
    w->frame = w->end + (uint64_t)(uint32_t)last * t->stride;
    return true;
}

/* Do at most `reads_most` reads of a list, of which those of the frame are in w->frame_words. */
CN_FRAME_INLINE void cn_frame_walk_read_row(struct cn_frame_walk *w,
                                            const struct cn_frame_read *reads,
                                            uint32_t count, uint32_t reads_most,
                                            uint64_t *row, uint32_t most)
{
    for (uint32_t i = 0; i < most; i++)
        row[i] = 0;
    w->values[CN_FRAME_SELF] = 0;
    w->values[CN_FRAME_ARRAY] = w->array;
    w->values[CN_FRAME_STATE] = w->state;
    w->values[CN_FRAME_DELEGATOR] = w->delegator;
    for (uint32_t i = 0; i < reads_most && i < count; i++) {
        uint32_t from = reads[i].from & (CN_FRAME_VALUES - 1), to = reads[i].to;
        uint64_t value = 0;

        if (from == CN_FRAME_SELF && reads[i].off == CN_FRAME_ADDRESS)
            value = w->frame;
        else if (reads[i].off == CN_FRAME_ADDRESS)
            value = w->values[from];
        else if (from == CN_FRAME_SELF)
            value = w->frame_words[(uint32_t)reads[i].off / 8 & (CN_FRAME_WORDS - 1)];
        else if (w->values[from] != 0) /* what fails takes longest */
            (void)cn_frame_walk_u64(w, &value,
                                    (w->values[from] & ~(uint64_t)CN_FRAME_TAGS) +
                                        w->values[reads[i].plus & (CN_FRAME_VALUES - 1)] +
                                        (uint64_t)(int64_t)reads[i].off);
        w->values[CN_FRAME_FOUND + i] = value;
        if (to < most)
            row[to] += value;
    }
}

/* Begin to walk, with the words of w->state. */
CN_FRAME_INLINE void cn_frame_walk_begin(struct cn_frame_walk *w,
                                         const struct cn_frame_table *t)
{
    w->has_failed = false;
    w->array = 0;
    w->found = (struct cn_frames_found){
        .language = t->language,
        .head_len = (uint16_t)t->head_len,
        .row_len = (uint16_t)t->row_len,
        .word_count = t->head_len & (CN_FRAME_HEAD_MAX - 1),
    };
    w->values[CN_FRAME_OTHER] = t->other;
    cn_frame_walk_read_row(w, t->head_reads, t->head_read_count, CN_FRAME_HEAD_READS_MAX,
                           w->words, CN_FRAME_HEAD_MAX);
}

/* Go to the frame that ends, if there is one, from its caller. */
CN_FRAME_INLINE void cn_frame_walk_enter_ending(struct cn_frame_walk *w,
                                                const struct cn_frame_table *t)
{
    const struct cn_frame_ending *e = &t->ending;
    uint64_t last = 0, function = 0, top = 0, caller = 0, at;
    uint32_t slots = 0, parameters = 0, variables = 0, temporaries = 0;
    uint8_t kind = 0;

    if (!cn_frame_walk_u64(w, &last, w->frame + e->prepared))
        return;
    last = last != 0 ? last : w->frame;
    if (!cn_frame_walk_u64(w, &top, w->state + e->top) ||
        !cn_frame_walk_u64(w, &function, last + e->function) ||
        !CN_FRAME_COPY(w, &kind, sizeof(kind), function) ||
        !CN_FRAME_COPY(w, &slots, sizeof(slots), last + e->arguments))
        return;
    if (kind != e->internal) {
        if (!CN_FRAME_COPY(w, &parameters, sizeof(parameters),
                           function + e->parameters) ||
            !CN_FRAME_COPY(w, &variables, sizeof(variables), function + e->variables) ||
            !CN_FRAME_COPY(w, &temporaries, sizeof(temporaries),
                           function + e->temporaries))
            return;
        slots = (slots > parameters ? slots - parameters : 0) + variables + temporaries;
    }
    at = last + e->frame_len + (uint64_t)e->slot_len * slots;
    if (at < top && top - at <= CN_FRAME_ENDING_MAX &&
        cn_frame_walk_u64(w, &caller, at + t->link) && caller == w->frame)
        w->frame = at;
}

/* Go to the first frame of w->state. False if it can not be read. */
CN_FRAME_INLINE bool cn_frame_walk_enter(struct cn_frame_walk *w,
                                         const struct cn_frame_table *t)
{
    uint64_t words = 0;

    w->frame = w->end = w->array = w->delegator = 0;
    if (t->order == CN_FRAME_NONE)
        return true;
    if (t->order == CN_FRAME_DOWN)
        return cn_frame_walk_u64(w, &w->array, w->state + t->first) && w->array != 0 &&
               cn_frame_walk_enter_array(w, t);
    if (!cn_frame_walk_u64(w, &w->frame, w->state + t->first) ||
        (t->has_second &&
         (w->frame == 0 || !cn_frame_walk_u64(w, &w->frame, w->frame + t->second))))
        return false;
    if (t->order == CN_FRAME_LINKED && t->ending.top > 0 && w->frame != 0)
        cn_frame_walk_enter_ending(w, t);
    if (t->order == CN_FRAME_LINKED)
        return true;
    if (!cn_frame_walk_u64(w, &w->end, w->state + t->base) ||
        !cn_frame_walk_u64(w, &words, w->state + t->count))
        return false;
    w->end += 8 * words;
    return true;
}

/* Go to the frame of the generator that w->delegator is now. False ends the walk. */
CN_FRAME_INLINE bool cn_frame_walk_enter_delegator(struct cn_frame_walk *w,
                                                   const struct cn_frame_table *t)
{
    uint64_t parent = 0;

    if (!cn_frame_walk_u64(w, &parent, w->delegator + t->delegation.parent) ||
        (parent != 0 &&
         !cn_frame_walk_u64(w, &w->frame, w->delegator + t->delegation.frame))) {
        w->has_failed = true;
        return false;
    }
    /* The one that runs delegates to no other. */
    if (parent == 0) {
        w->frame = w->resumed_by;
        w->delegator = 0;
    }
    return w->frame != 0;
}

/* The caller of a frame that points to it, or the next generator that delegates. */
CN_FRAME_INLINE bool cn_frame_walk_leave_linked(struct cn_frame_walk *w,
                                                const struct cn_frame_table *t)
{
    const struct cn_frame_delegation *d = &t->delegation;
    uint64_t caller = w->frame_words[t->link / 8 & (CN_FRAME_WORDS - 1)];

    if (d->parent > 0 && w->delegator != 0) {
        if (cn_frame_walk_u64(w, &w->delegator, w->delegator + d->parent))
            return cn_frame_walk_enter_delegator(w, t);
        w->has_failed = true;
        return false;
    }
    if (d->parent > 0 && w->frame_words[d->function / 8 & (CN_FRAME_WORDS - 1)] == 0) {
        w->delegator = w->frame_words[d->generator / 8 & (CN_FRAME_WORDS - 1)];
        w->resumed_by = caller;
        if (w->delegator != 0)
            return cn_frame_walk_enter_delegator(w, t);
    }
    w->frame = caller;
    return caller != 0;
}

/* The frame of the caller. False if its array has no other. */
CN_FRAME_INLINE bool cn_frame_walk_leave_frame(struct cn_frame_walk *w,
                                               const struct cn_frame_table *t)
{
    switch (t->order) {
    case CN_FRAME_LINKED:
        return cn_frame_walk_leave_linked(w, t);
    case CN_FRAME_UP:
        w->frame += t->stride;
        return w->frame < w->end;
    default:
        w->frame = w->frame == w->end ? 0 : w->frame - t->stride;
        return true;
    }
}

/* The same, after frames of another state. */
CN_FRAME_INLINE bool cn_frame_walk_enter_next(struct cn_frame_walk *w,
                                              const struct cn_frame_table *t)
{
    uint32_t at = w->found.word_count;

    if (at > CN_FRAME_WORDS_MAX - CN_FRAME_ROW_MAX)
        return false;
    for (uint32_t i = 0; i < CN_FRAME_ROW_MAX; i++)
        w->words[at + i] = 0;
    w->found.word_count =
        at + (t->row_len < CN_FRAME_ROW_MAX ? t->row_len : CN_FRAME_ROW_MAX);
    return cn_frame_walk_enter(w, t);
}

/* Add the row of a frame and go to its caller. False ends the walk. */
CN_FRAME_INLINE bool cn_frame_walk_step(struct cn_frame_walk *w,
                                        const struct cn_frame_table *t)
{
    uint32_t at = w->found.word_count, len = t->frame_len;

    if (w->frame == 0 && t->order == CN_FRAME_DOWN) {
        w->has_failed = !cn_frame_walk_u64(w, &w->array, w->array + t->array_next) ||
                        (w->array != 0 && !cn_frame_walk_enter_array(w, t));
        return !w->has_failed && w->array != 0;
    }
    if (w->frame == 0)
        return false;
    w->found.is_cut = at > CN_FRAME_WORDS_MAX - CN_FRAME_ROW_MAX;
    if (at > CN_FRAME_WORDS_MAX - CN_FRAME_ROW_MAX)
        return false;
    if (len > CN_FRAME_LEN || !CN_FRAME_COPY(w, w->frame_words, len, w->frame)) {
        w->has_failed = true;
        return false;
    }
    cn_frame_walk_read_row(w, t->reads, t->read_count, CN_FRAME_READS_MAX, w->words + at,
                           CN_FRAME_ROW_MAX);
    w->found.word_count =
        at + (t->row_len < CN_FRAME_ROW_MAX ? t->row_len : CN_FRAME_ROW_MAX);
    return cn_frame_walk_leave_frame(w, t);
}

/* An object that a row refers to. */
struct cn_frame_seen {
    uint64_t address;  /* 0: none */
    uint64_t identity; /* in this process, of what it was at this time */
    uint32_t slot;     /* a hash of its address */
};

/* That of a row; false after the last row. */
CN_FRAME_INLINE bool cn_frame_object_find(const struct cn_frame_walk *w,
                                          const struct cn_frame_table *t, uint32_t index,
                                          struct cn_frame_seen *out)
{
    const uint32_t row = w->found.head_len + index * w->found.row_len;
    uint64_t hash;

    if (row + w->found.row_len > w->found.word_count)
        return false;
    out->address = w->words[(row + t->object.word) & (CN_FRAME_WORDS_MAX - 1)] &
                   ~(uint64_t)CN_FRAME_TAGS;
    hash = (out->address ^ (uint64_t)w->pid << 40) * 0x9e3779b97f4a7c15;
    out->slot = (uint32_t)(hash >> (64 - CN_FRAME_OBJECT_BITS));
    out->identity = hash + w->words[(row + t->object.sum) & (CN_FRAME_WORDS_MAX - 1)];
    return true;
}

/* Add a copy, which begins with its address and length. Returns where the next one is. */
CN_FRAME_INLINE uint32_t cn_frame_copy_add(struct cn_frame_walk *w,
                                           struct cn_frame_copies *c, uint32_t at,
                                           uint64_t address, uint64_t len)
{
    uint8_t *out = c->bytes + (at & (CN_FRAME_COPIES_MAX - 1));

    /* The verifier of the kernel must see the number that is compared. */
    __asm__ volatile("" : "+r"(len));
    if (len > CN_FRAME_PART_MAX || at >= CN_FRAME_COPIES_MAX ||
        !CN_FRAME_COPY(w, out + CN_FRAME_COPY_HEAD, len, address))
        return at;
    ((uint64_t *)(void *)out)[0] = address;
    ((uint64_t *)(void *)out)[1] = len;
    return at + CN_FRAME_COPY_HEAD + (((uint32_t)len + 7) & ~7U);
}

/* Add what a pointer of an object points to. Its items may be narrower than the widest are. */
CN_FRAME_INLINE uint32_t cn_frame_copy_part(struct cn_frame_walk *w,
                                            struct cn_frame_copies *c, uint32_t at,
                                            const struct cn_frame_part *part,
                                            uint64_t object)
{
    uint64_t address = 0, count = 0, width = part->width, last = 0;
    uint32_t next;

    if (!cn_frame_walk_u64(w, &address, object + part->pointer))
        return at;
    if (width > 0 && cn_frame_walk_u64(w, &count, address + part->count) &&
        count <= CN_FRAME_PART_MAX)
        last = count;
    next = cn_frame_copy_add(w, c, at, address, part->head + last * width);
    return next != at ? next : cn_frame_copy_add(w, c, at, address, part->head + last);
}

/* Copy an object and its parts, as far as they can be read. Returns the bytes of `c` that are used. */
CN_FRAME_INLINE uint32_t cn_frame_object_copy(struct cn_frame_walk *w,
                                              const struct cn_frame_table *t,
                                              uint64_t address, struct cn_frame_copies *c)
{
    uint32_t at = cn_frame_copy_add(w, c, 0, address, t->object.len);

    for (uint32_t i = 0; i < CN_FRAME_PARTS_MAX && i < t->object.part_count; i++)
        at = cn_frame_copy_part(w, c, at, &t->object.parts[i], address);
    c->address = address;
    return (uint32_t)sizeof(c->address) + at;
}

#endif
