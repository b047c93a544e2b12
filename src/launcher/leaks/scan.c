#include "launcher/leaks/scan.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/run/clock.h"
#include "base/search.h"
#include "launcher/leaks/stop.h"

enum {
    WORD = 8,
    CHUNK_LEN = 1 << 20,
    BATCH_MAX = 256,         /* blocks that are read at once */
    SMALL_MAX = 64 << 10,    /* larger ones are read page by page */
    PAGES_MAX = 512,         /* whose state is read at once */
    RED_ZONE_LEN = 128,      /* below the stack pointer */
    THREAD_LEN = 4096,       /* of what the C library has above the thread pointer */
    LOCAL_LEN_MAX = 1 << 16, /* of variables below or above it */
};

/* Bits of /proc/PID/pagemap. */
static const uint64_t PAGE_IS_THERE = UINT64_C(3) << 62;

/* Below the stack pointers of its threads, a stack has nothing: `live_begin`; UINT64_MAX: it is none. */
struct scan_region {
    uint64_t begin, end, live_begin;
    bool is_first_stack;
    bool is_data; /* of a file, or what follows it: no block is in it */
};

struct scan_state {
    const struct cn_leak_scan *scan;
    uint64_t low, high; /* of all blocks */
    uint64_t page_len;
    uint32_t *todo; /* blocks that were reached and not yet read */
    size_t todo_count;
    struct scan_region *regions; /* that can be written */
    size_t region_count, region_capacity;
    int page_states;
    uint8_t *chunk;
};

static uint64_t end_of(const struct cn_leak_block *block)
{
    return block->address + (block->size > 0 ? block->size : 1);
}

static bool ends_before(const void *blocks, uint64_t i, uint64_t address)
{
    return end_of((const struct cn_leak_block *)blocks + i) <= address;
}

/* The first block that ends after an address. */
static size_t block_after(const struct cn_leak_scan *scan, uint64_t address)
{
    return (size_t)cn_search(0, scan->count, ends_before, scan->blocks, address);
}

static void take_word(struct scan_state *s, uint64_t word)
{
    const struct cn_leak_scan *scan = s->scan;

    if (word < s->low || word >= s->high)
        return;
    size_t at = block_after(scan, word);
    if (at == scan->count || scan->blocks[at].address > word ||
        scan->blocks[at].is_reached)
        return;
    scan->blocks[at].is_reached = true;
    s->todo[s->todo_count++] = (uint32_t)at;
}

static void take_words(struct scan_state *s, const uint8_t *bytes, size_t len)
{
    for (size_t at = 0; at + WORD <= len; at += WORD) {
        uint64_t word;

        memcpy(&word, bytes + at, WORD);
        take_word(s, word);
    }
}

static size_t read_memory(const struct scan_state *s, void *out, uint64_t address,
                          size_t len)
{
    struct iovec to = {out, len}, from = {(void *)(uintptr_t)address, len};
    ssize_t done = process_vm_readv(s->scan->stopped->pid, &to, 1, &from, 1, 0);

    return done > 0 ? (size_t)done : 0;
}

/* Words from `begin`, in pages that are no block's, except for those inside blocks. */
static void take_roots(struct scan_state *s, uint64_t begin, uint64_t end)
{
    const struct cn_leak_scan *scan = s->scan;
    size_t len = read_memory(s, s->chunk, begin, (size_t)(end - begin));
    size_t block = block_after(scan, begin);

    for (size_t at = 0; at + WORD <= len; at += WORD) {
        uint64_t word, address = begin + at;

        while (block < scan->count && end_of(&scan->blocks[block]) <= address)
            block++;
        if (block < scan->count && scan->blocks[block].address <= address)
            continue;
        memcpy(&word, s->chunk + at, WORD);
        take_word(s, word);
    }
}

static void take_contents(struct scan_state *s, uint64_t begin, uint64_t end)
{
    take_words(s, s->chunk, read_memory(s, s->chunk, begin, (size_t)(end - begin)));
}

/* The states of up to PAGES_MAX pages; all are there if that is unknown. */
static size_t read_pages(const struct scan_state *s, uint64_t begin, uint64_t end,
                         uint64_t states[PAGES_MAX])
{
    uint64_t count = (end - begin + s->page_len - 1) / s->page_len;
    size_t known = 0;

    if (count > PAGES_MAX)
        count = PAGES_MAX;
    if (s->page_states >= 0) {
        ssize_t len = pread(s->page_states, states, (size_t)count * WORD,
                            (off_t)(begin / s->page_len * WORD));

        known = len > 0 ? (size_t)len / WORD : 0;
    }
    for (size_t i = known; i < count; i++)
        states[i] = PAGE_IS_THERE;
    return (size_t)count;
}

typedef void take_fn(struct scan_state *s, uint64_t begin, uint64_t end);

/* Take the pages of a range that are in memory; others were never written. Pages that blocks were
 * in are left out, unless `is_held_too`. */
static bool take_range(struct scan_state *s, uint64_t begin, uint64_t end,
                       bool is_held_too, take_fn *take, struct cn_error *err)
{
    const struct cn_map *held = is_held_too ? NULL : s->scan->held;
    uint64_t states[PAGES_MAX], at = begin, from = begin;

    while (at < end) {
        size_t count = read_pages(s, at / s->page_len * s->page_len, end, states);

        if (cn_clock_ns() > s->scan->deadline_ns)
            return cn_fail(err, CN_ERR_LIMIT,
                           "reading the memory of process %d takes too long",
                           (int)s->scan->stopped->pid);
        for (size_t i = 0; i < count && at < end; i++) {
            uint64_t page = at / s->page_len, next = (page + 1) * s->page_len;
            bool is_taken = (states[i] & PAGE_IS_THERE) != 0 &&
                            !(held && cn_map_find(held, page, 0) != 0);

            next = next < end ? next : end;
            if (from < at && (!is_taken || next - from > CHUNK_LEN)) {
                take(s, from, at);
                from = at;
            }
            from = is_taken ? from : next;
            at = next;
        }
    }
    if (from < end)
        take(s, from, end);
    return true;
}

/* Blocks of this size are read one after the other into one buffer. */
static size_t take_batch(struct scan_state *s)
{
    struct iovec from[BATCH_MAX], to = {s->chunk, 0};
    size_t count = 0;

    while (s->todo_count > 0 && count < BATCH_MAX) {
        const struct cn_leak_block *block = &s->scan->blocks[s->todo[s->todo_count - 1]];

        if (block->size > SMALL_MAX || to.iov_len + block->size > CHUNK_LEN)
            break;
        s->todo_count--;
        if (block->size < WORD)
            continue;
        from[count++] =
            (struct iovec){(void *)(uintptr_t)block->address, block->size / WORD * WORD};
        to.iov_len += block->size / WORD * WORD;
    }
    for (size_t i = 0; i < count;) {
        ssize_t done =
            process_vm_readv(s->scan->stopped->pid, &to, 1, from + i, count - i, 0);
        size_t len = done > 0 ? (size_t)done : 0;

        take_words(s, s->chunk, len);
        for (; i < count && len >= from[i].iov_len; i++)
            len -= from[i].iov_len;
        i++; /* it cannot be read */
    }
    return count;
}

static bool take_blocks(struct scan_state *s, struct cn_error *err)
{
    while (s->todo_count > 0) {
        const struct cn_leak_block *block = &s->scan->blocks[s->todo[s->todo_count - 1]];

        if (cn_clock_ns() > s->scan->deadline_ns)
            return cn_fail(err, CN_ERR_LIMIT,
                           "reading the memory of process %d takes too long",
                           (int)s->scan->stopped->pid);
        if (block->size <= SMALL_MAX) {
            (void)take_batch(s);
            continue;
        }
        s->todo_count--;
        if (!take_range(s, block->address, end_of(block), true, take_contents, err))
            return false;
    }
    return true;
}

static bool list_regions(struct scan_state *s, struct cn_error *err)
{
    const struct cn_leak_scan *scan = s->scan;
    char path[64], *line = NULL;
    size_t line_len = 0;
    uint64_t file_end = 0;
    bool has_skipped = scan->skipped_file == 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)scan->stopped->pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return cn_fail_errno(err, "%s", path);
    while (getline(&line, &line_len, file) > 0) {
        uint64_t begin, end, inode;
        bool is_heap = strstr(line, "[heap]") != NULL;
        char rights[5];

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %" SCNu64, &begin, &end,
                   rights, &inode) != 4 ||
            begin >= end)
            continue;
        bool is_data = inode != 0 || (begin == file_end && !is_heap);
        file_end = inode != 0 ? end : 0;
        has_skipped = has_skipped || (inode != 0 && inode == scan->skipped_file);
        if (strncmp(rights, "rw", 2) != 0 || (inode != 0 && inode == scan->skipped_file))
            continue;
        CN_PUSH(s->regions, s->region_count, s->region_capacity,
                (struct scan_region){begin, end, UINT64_MAX,
                                     strstr(line, "[stack]") != NULL, is_data});
    }
    free(line);
    (void)fclose(file);
    return has_skipped ||
           cn_fail(err, CN_ERR_NOT_FOUND,
                   "process %d is not the one that asked: it has another number there",
                   (int)scan->stopped->pid);
}

static struct scan_region *region_of(const struct scan_state *s, uint64_t address)
{
    for (size_t i = 0; i < s->region_count; i++)
        if (address >= s->regions[i].begin && address < s->regions[i].end)
            return &s->regions[i];
    return NULL;
}

/* The stack of a thread and its variables. They may be where blocks were before. Without a stack that ends
 * at the thread pointer, as for the first thread, to the end of the mapping. */
static bool take_thread(struct scan_state *s, const struct cn_stopped_thread *thread,
                        struct cn_error *err)
{
    struct scan_region *stack = region_of(s, thread->stack);
    const struct scan_region *local = region_of(s, thread->local);
    uint64_t local_end = thread->local + THREAD_LEN;
    bool ok = true;

    if (local && local_end > local->end)
        local_end = local->end;
    if (stack) {
        uint64_t begin = thread->stack - RED_ZONE_LEN > stack->begin
                             ? (thread->stack - RED_ZONE_LEN) / WORD * WORD
                             : stack->begin;
        uint64_t end = stack == local && thread->local > begin ? local_end : stack->end;

        if ((stack->is_first_stack || (stack == local && thread->local > begin)) &&
            begin < stack->live_begin)
            stack->live_begin = begin;
        ok = take_range(s, begin, end, true, take_roots, err);
    }
    if (local) {
        uint64_t begin = thread->local - local->begin > LOCAL_LEN_MAX
                             ? thread->local - LOCAL_LEN_MAX
                             : local->begin;

        begin = begin / WORD * WORD;
#if !defined(__x86_64__) /* variables are above the thread pointer */
        local_end = local->end - thread->local > LOCAL_LEN_MAX
                        ? thread->local + LOCAL_LEN_MAX
                        : local->end;
#endif
        ok = ok && take_range(s, begin, local_end, true, take_roots, err);
    }
    return ok;
}

static bool take_all(struct scan_state *s, struct cn_error *err)
{
    const struct cn_stopped *stopped = s->scan->stopped;
    bool ok = list_regions(s, err);

    for (size_t i = 0; i < stopped->word_count; i++)
        take_word(s, stopped->words[i]);
    for (size_t i = 0; ok && i < stopped->count; i++)
        ok = take_thread(s, &stopped->threads[i], err);
    for (size_t i = 0; ok && i < s->region_count; i++) {
        const struct scan_region *region = &s->regions[i];

        ok = take_range(
            s, region->live_begin < region->end ? region->live_begin : region->begin,
            region->end, region->is_data, take_roots, err);
    }
    return ok && take_blocks(s, err);
}

bool cn_leak_scan_run(struct cn_leak_scan *scan, struct cn_error *err)
{
    struct scan_state s = {.scan = scan, .page_len = (uint64_t)sysconf(_SC_PAGESIZE)};
    char path[64];

    for (size_t i = 0; i < scan->count; i++)
        scan->blocks[i].is_reached = false;
    if (scan->count == 0)
        return true;
    if (scan->count > UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %" PRIu32 " blocks", UINT32_MAX);
    s.low = scan->blocks[0].address;
    s.high = end_of(&scan->blocks[scan->count - 1]);
    s.todo = cn_alloc(scan->count, sizeof(*s.todo));
    s.chunk = cn_alloc(1, CHUNK_LEN);
    (void)snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)scan->stopped->pid);
    s.page_states = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = take_all(&s, err);
    if (s.page_states >= 0)
        (void)close(s.page_states);
    free(s.todo);
    free(s.chunk);
    free(s.regions);
    return ok;
}
