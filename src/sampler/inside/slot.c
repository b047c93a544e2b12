#include "sampler/inside/slot.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_LEN = 4096, WAIT_NS = 100000, WAITS = 200 };

/* Memory of this process as it is at the moment, through blocks of the slot: what is not there is
 * no fault. */
static bool copy_own(struct cn_frame_walk *walk, void *out, size_t len, uint64_t address);
#define CN_FRAME_INLINE                        static inline
#define CN_FRAME_COPY(walk, out, len, address) copy_own(walk, out, len, address)
#include "sampler/languages/frame_steps.h"

struct cn_inside_shared *cn_inside;

/* Of this thread. */
static _Thread_local uintptr_t stack_begin, stack_end;
static _Thread_local uint64_t known_state; /* of an interpreter */
static _Thread_local struct {
    uint64_t begins[CN_INSIDE_BLOCKS]; /* that the last sample needed */
    uint32_t used;                     /* bits: those that this one needs */
} known_blocks;

static struct cn_inside_slot *take_next(void)
{
    uint32_t at = atomic_fetch_add_explicit(&cn_inside->next, 1, memory_order_relaxed);
    uint32_t count = cn_inside_slot_count(cn_inside), state = CN_INSIDE_FREE;
    struct cn_inside_slot *slot = &cn_inside->slots[at % count];

    if (atomic_compare_exchange_strong(&slot->state, &state, CN_INSIDE_FILLING))
        return slot;
    if (count < CN_INSIDE_SLOTS)
        (void)atomic_compare_exchange_strong(&cn_inside->slot_count, &count, 2 * count);
    return NULL;
}

/* With as many slots as it takes. */
static struct cn_inside_slot *take_any(void)
{
    struct cn_inside_slot *slot = take_next();

    for (uint32_t i = CN_INSIDE_FIRST_SLOTS; !slot && i < CN_INSIDE_SLOTS; i *= 2)
        slot = take_next();
    return slot;
}

static void fill_in(struct cn_inside_slot *slot, uint32_t kind)
{
    struct timespec now;

    slot->kind = kind;
    slot->pid = (uint32_t)getpid();
    slot->tid = (uint32_t)syscall(SYS_gettid);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    slot->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* All slots were full for some time: cairn may have been killed. */
static _Atomic bool has_waited;

/* Wait a moment for cairn, which may have had no processor, but not again before it has emptied a
 * slot. */
static struct cn_inside_slot *wait_for_slot(void)
{
    const struct timespec moment = {0, WAIT_NS};
    struct cn_inside_slot *slot = NULL;

    for (int i = 0; !slot && !atomic_load(&has_waited) && i < WAITS; i++) {
        (void)syscall(SYS_nanosleep, &moment, NULL);
        slot = take_next();
    }
    if (!slot)
        atomic_store(&has_waited, true);
    return slot;
}

struct cn_inside_slot *cn_inside_take(uint32_t kind)
{
    struct cn_inside_slot *slot = take_any();

    if (!slot && kind == CN_INSIDE_ALLOC)
        slot = wait_for_slot();
    if (!slot) {
        atomic_fetch_add_explicit(kind == CN_INSIDE_ALLOC ? &cn_inside->lost_alloc_count
                                                          : &cn_inside->lost_count,
                                  1, memory_order_relaxed);
        return NULL;
    }
    if (atomic_load_explicit(&has_waited, memory_order_relaxed))
        atomic_store(&has_waited, false);
    fill_in(slot, kind);
    return slot;
}

/* No memory is read outside the stack of the thread; on any other stack, only the page that
 * it points to. */
static size_t copy_len(uintptr_t from)
{
    uintptr_t end =
        from >= stack_begin && from < stack_end ? stack_end : (from | (PAGE_LEN - 1)) + 1;

    return end - from < CN_INSIDE_COPY_MAX ? end - from : CN_INSIDE_COPY_MAX;
}

/* Read the blocks that the last sample of the thread needed, which this one mostly needs as well, in one
 * system call. Those after one that cannot be read are read when they are needed. A handler of a
 * signal may change what is known meanwhile. */
static void read_known_blocks(struct cn_inside_slot *slot)
{
    struct iovec to[CN_INSIDE_BLOCKS], from[CN_INSIDE_BLOCKS];
    size_t count = 0;
    long len = 0;

    for (size_t i = 0; i < CN_INSIDE_BLOCKS; i++) {
        struct cn_inside_block *block = &slot->blocks[i];

        block->begin = known_blocks.begins[i];
        if (block->begin == CN_INSIDE_NO_BLOCK)
            continue;
        to[count] = (struct iovec){block->bytes, sizeof(block->bytes)};
        from[count++] =
            (struct iovec){(void *)(uintptr_t)block->begin, sizeof(block->bytes)};
    }
    if (count > 0)
        len = syscall(SYS_process_vm_readv, (long)slot->pid, to, (long)count, from,
                      (long)count, 0L);
    for (size_t i = 0; i < CN_INSIDE_BLOCKS; i++) {
        if (slot->blocks[i].begin == CN_INSIDE_NO_BLOCK)
            continue;
        if (len < CN_INSIDE_BLOCK_LEN)
            slot->blocks[i].begin = CN_INSIDE_NO_BLOCK;
        len -= CN_INSIDE_BLOCK_LEN;
    }
    known_blocks.used = 0;
}

static void know_blocks(const struct cn_inside_slot *slot)
{
    for (size_t i = 0; i < CN_INSIDE_BLOCKS; i++)
        known_blocks.begins[i] =
            known_blocks.used >> i & 1 ? slot->blocks[i].begin : CN_INSIDE_NO_BLOCK;
}

/* Each block has two places: those that a walk reads in turns do not drive each other out. */
static size_t place_of(const struct cn_inside_slot *slot, uint64_t begin)
{
    uint64_t number = begin / CN_INSIDE_BLOCK_LEN;
    size_t at =
        (number ^ number >> 4 ^ number >> 8 ^ number >> 12) % (CN_INSIDE_BLOCKS / 2) * 2;

    if (slot->blocks[at].begin == begin)
        return at;
    return slot->blocks[at + 1].begin == begin || known_blocks.used >> at & 1 ? at + 1
                                                                              : at;
}

static const struct cn_inside_block *block_at(struct cn_inside_slot *slot, uint64_t begin)
{
    if (begin == CN_INSIDE_NO_BLOCK)
        return NULL;
    size_t at = place_of(slot, begin);
    struct cn_inside_block *block = &slot->blocks[at];
    struct iovec to = {block->bytes, sizeof(block->bytes)};
    struct iovec from = {(void *)(uintptr_t)begin, sizeof(block->bytes)};

    known_blocks.used |= 1U << at;
    if (block->begin == begin)
        return block;
    block->begin = CN_INSIDE_NO_BLOCK;
    if (syscall(SYS_process_vm_readv, (long)slot->pid, &to, 1L, &from, 1L, 0L) !=
        (long)sizeof(block->bytes))
        return NULL;
    block->begin = begin;
    return block;
}

static bool copy_own(struct cn_frame_walk *walk, void *out, size_t len, uint64_t address)
{
    struct cn_inside_slot *slot =
        (struct cn_inside_slot *)((uint8_t *)walk -
                                  offsetof(struct cn_inside_slot, walk));
    uint8_t *to = out;

    while (len > 0) {
        size_t off = (size_t)(address % CN_INSIDE_BLOCK_LEN);
        size_t part = CN_INSIDE_BLOCK_LEN - off < len ? CN_INSIDE_BLOCK_LEN - off : len;
        const struct cn_inside_block *block = block_at(slot, address - off);

        if (!block)
            return false;
        memcpy(to, block->bytes + off, part);
        to += part;
        address += part;
        len -= part;
    }
    return true;
}

static const struct cn_frame_table *find_table(uint32_t pid)
{
    for (size_t i = 0; i < CN_INSIDE_TABLES; i++)
        if (atomic_load_explicit(&cn_inside->tables[i].pid, memory_order_acquire) == pid)
            return &cn_inside->tables[i].table;
    return NULL;
}

static bool find_states(struct cn_frame_walk *walk, const struct cn_frame_table *table)
{
    bool is_over = false;

    walk->state_count = 1;
    walk->states[0] = table->root;
    if (table->root_kind == CN_FRAME_AT_ADDRESS)
        return true;
    if (table->root_kind == CN_FRAME_AT_THREAD)
        return cn_frame_walk_variable(walk, table,
                                      (uint64_t)(uintptr_t)__builtin_thread_pointer());
    if (!cn_frame_walk_begin_search(walk, table, known_state, &is_over))
        return false;
    for (size_t i = 0;
         !is_over && i < CN_FRAME_THREADS_MAX && cn_frame_walk_search(walk, table); i++)
        continue;
    known_state = walk->state_count > 0 ? walk->states[0] : 0;
    return true;
}

/* Copy an object to a slot of its own, which cairn takes before that of the sample. False if there is none. */
static bool copy_object(struct cn_inside_slot *slot, const struct cn_frame_table *table,
                        uint64_t address)
{
    struct cn_inside_slot *to = take_any();

    static_assert(sizeof(struct cn_frame_copies) <= CN_INSIDE_COPY_MAX &&
                      offsetof(struct cn_inside_slot, copy) % 8 == 0,
                  "an object with its parts is in the place of a copy of the stack");
    if (!to)
        return false;
    fill_in(to, CN_INSIDE_OBJECT);
    to->time_ns = slot->time_ns - 1;
    to->has_frames = 0;
    to->copy_len = cn_frame_object_copy(&slot->walk, table, address, (void *)to->copy);
    cn_inside_give(to);
    return true;
}

/* Copy the objects that are seen for the first time. */
static void copy_objects(struct cn_inside_slot *slot, const struct cn_frame_table *table)
{
    struct cn_frame_seen seen;

    for (uint32_t i = 0;
         i < CN_FRAME_STEPS_MAX && cn_frame_object_find(&slot->walk, table, i, &seen);
         i++) {
        _Atomic uint64_t *known = &cn_inside->objects[seen.slot];

        if (seen.address != 0 &&
            atomic_load_explicit(known, memory_order_relaxed) != seen.identity &&
            copy_object(slot, table, seen.address))
            atomic_store_explicit(known, seen.identity, memory_order_relaxed);
    }
}

static void walk_frames(struct cn_inside_slot *slot, const struct cn_frame_table *table)
{
    struct cn_frame_walk *walk = &slot->walk;

    walk->pid = slot->pid;
    walk->tid = slot->tid;
    walk->has_failed = false;
    if (!find_states(walk, table))
        return;
    for (uint32_t i = 0; i < walk->state_count && i < CN_FRAME_STATES_MAX; i++) {
        walk->state = walk->states[i];
        if (i == 0)
            cn_frame_walk_begin(walk, table);
        if (!(i == 0 ? cn_frame_walk_enter(walk, table)
                     : cn_frame_walk_enter_next(walk, table)))
            return;
        for (size_t k = 0; k < CN_FRAME_STEPS_MAX && cn_frame_walk_step(walk, table); k++)
            continue;
        if (walk->has_failed)
            return;
    }
    slot->has_frames = walk->state_count > 0;
}

void cn_inside_read_frames(struct cn_inside_slot *slot)
{
    const struct cn_frame_table *table = find_table(slot->pid);

    slot->has_frames = 0;
    if (!table)
        return;
    read_known_blocks(slot);
    walk_frames(slot, table);
    know_blocks(slot);
    if (slot->has_frames && table->object.len > 0)
        copy_objects(slot, table);
}

void cn_inside_copy_stack(struct cn_inside_slot *slot, uintptr_t from)
{
    slot->copy_len = (uint32_t)copy_len(from);
    memcpy(slot->copy, (const void *)from, slot->copy_len);
}

void cn_inside_forget(void)
{
    known_state = 0;
    memset(known_blocks.begins, 0, sizeof(known_blocks.begins));
}

void cn_inside_find_stack(void)
{
    pthread_attr_t attributes;
    void *at;
    size_t len;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &at, &len) == 0) {
        stack_begin = (uintptr_t)at;
        stack_end = (uintptr_t)at + len;
    }
    (void)pthread_attr_destroy(&attributes);
}

bool cn_inside_map(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    void *at = MAP_FAILED;

    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && (size_t)status.st_size >= sizeof(*cn_inside))
        at = mmap(NULL, sizeof(*cn_inside), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (at == MAP_FAILED)
        return false;
    if (((struct cn_inside_shared *)at)->magic != CN_INSIDE_MAGIC) {
        (void)munmap(at, sizeof(*cn_inside));
        return false;
    }
    cn_inside = at;
    return true;
}
