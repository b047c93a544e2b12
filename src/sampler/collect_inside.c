/* What programs leave that sample themselves, and their allocations. */
#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "sampler/attached.h"
#include "sampler/collect.h"
#include "sampler/inside/shared.h"
#include "sampler/kernel/shared.h"
#include "sampler/synthesis.h"

enum {
    HEAD_LEN = 8,
    LOOK_NS = 100000000,
    KNOWS_PROBES = 1 << 30, /* beside the languages of stored_mappings_of */
};

/* Unwind, and look up new mappings of the process where code is unknown. */
static size_t unwind_inside(struct cn_sample_collector *c,
                            const struct cn_inside_slot *slot, uint64_t *out)
{
    struct cn_unwind_registers registers = {.machine = cn_unwind_machine_here()};
    struct cn_bytes stack = {slot->copy, slot->copy_len};
    struct cn_unwound_task task = {slot->pid, slot->tid, slot->time_ns};
    uint64_t unknown = c->stacks.ends[CN_UNWIND_UNKNOWN];
    size_t known = registers.machine == CN_UNWIND_X86_64 ? CN_UNWIND_X86_RIP + 1
                                                         : CN_INSIDE_REGISTERS;
    struct cn_synthesis to = {cn_collector_take, c, slot->time_ns, false};
    struct cn_error ignored = {0};

    memcpy(registers.value, slot->registers, known * sizeof(uint64_t));
    registers.known = (UINT64_C(1) << known) - 1;
    size_t count = cn_unwound_unwind(&c->stacks, &task, &registers, stack, out,
                                     CN_COLLECT_CHAIN_MAX - 1);
    if (c->stacks.ends[CN_UNWIND_UNKNOWN] == unknown ||
        slot->time_ns - c->looked_ns < LOOK_NS)
        return count;
    c->looked_ns = slot->time_ns;
    if (!cn_synthesize_process(&to, (pid_t)slot->pid, &ignored))
        return count;
    c->stacks.ends[CN_UNWIND_UNKNOWN] = unknown;
    return cn_unwound_unwind(&c->stacks, &task, &registers, stack, out,
                             CN_COLLECT_CHAIN_MAX - 1);
}

/* What was read of an interpreter, as a record of the kernel. The head belongs to the process: its
 * own task counts. */
static struct cn_bytes frames_of(struct cn_inside_slot *slot)
{
    struct cn_kernel_record head = {
        .kind = CN_KERNEL_FRAMES,
        .pid = slot->pid,
        .tid = slot->tid,
        .time_ns = slot->time_ns,
    };

    static_assert(sizeof(head) == sizeof(slot->walk.record_head) &&
                      offsetof(struct cn_frame_walk, found) ==
                          offsetof(struct cn_frame_walk, record_head) + sizeof(head) &&
                      offsetof(struct cn_frame_walk, words) ==
                          offsetof(struct cn_frame_walk, found) +
                              sizeof(slot->walk.found),
                  "head, what was found and its words follow each other");
    memcpy(slot->walk.record_head, &head, sizeof(head));
    return (struct cn_bytes){(const uint8_t *)slot->walk.record_head,
                             sizeof(head) + sizeof(slot->walk.found) +
                                 sizeof(slot->walk.words)};
}

/* A record of allocated memory, with `count` addresses after it. */
static bool write_memory(struct cn_sample_collector *c, struct cn_perf_memory *body,
                         const uint64_t *chain, size_t count, struct cn_error *err)
{
    struct cn_text record = {0};
    size_t len = cn_perf_head_size + cn_perf_memory_size + 8 * count;
    struct cn_perf_head head = {.type = CN_PERF_HEADER_EVENT_TYPE, .size = (uint16_t)len};
    uint8_t *at = (uint8_t *)cn_text_room(&record, len);

    body->magic = CN_PERF_MEMORY_MAGIC;
    body->interval = c->options->memory_interval;
    body->address_count = (uint32_t)count;
    memset(at, 0, len);
    (void)cn_perf_head_encode(&head, at);
    (void)cn_perf_memory_encode(body, at + cn_perf_head_size);
    for (size_t i = 0; i < count; i++)
        cn_u64_put(at + len - 8 * (count - i), chain[i]);
    bool ok = cn_perf_writer_add(c->writer, (struct cn_bytes){at, len}, err);
    cn_text_done(&record);
    return ok;
}

/* The path of an allocation ends with the function that called the allocator: what is below it is
 * this library. */
static bool take_alloc(struct cn_sample_collector *c, struct cn_inside_slot *slot,
                       struct cn_error *err)
{
    const struct cn_inside_alloc *alloc = &slot->alloc;
    struct cn_unwound_task task = {slot->pid, slot->tid, slot->time_ns};
    uint64_t chain[CN_COLLECT_CHAIN_MAX];
    struct cn_perf_memory body = {
        .kind = CN_PERF_IS_ALLOC,
        .time_ns = slot->time_ns,
        .pid = slot->pid,
        .tid = slot->tid,
        .image = alloc->image,
        .address = alloc->address,
        .size = alloc->size,
        .usable_size = alloc->usable_size,
        .old_size = alloc->old_size,
        .flags = alloc->is_mapping ? CN_PERF_MEMORY_IS_MAPPING : 0,
    };
    size_t first = 0;

    if (slot->has_frames)
        cn_unwound_take_frames(&c->stacks, frames_of(slot));
    size_t count = unwind_inside(c, slot, chain);
    while (first < count && chain[first] != alloc->caller)
        first++;
    if (first == count) { /* not unwound that far */
        chain[0] = alloc->caller;
        first = 0;
        count = 1;
    }
    return cn_collector_write_names(c, &task, chain + first, count - first, err) &&
           write_memory(c, &body, chain + first, count - first, err);
}

/* Of a slot that is in the memory of the sampler: what is there in any case, the frames of an
 * interpreter if there are any, without unused words, and the copy of the stack. */
enum {
    SLOT_HEAD_LEN = offsetof(struct cn_inside_slot, walk),
    SLOT_FOUND_LEN = sizeof(struct cn_frames_found), /* the words follow it */
};

void cn_collector_add_inside(struct cn_rings *rings, const struct cn_inside_slot *slot)
{
    size_t copy_len = slot->copy_len <= CN_INSIDE_COPY_MAX ? slot->copy_len : 0;
    size_t words = slot->walk.found.word_count, found_len = 0;

    if (slot->has_frames && words <= CN_FRAME_WORDS_MAX)
        found_len = SLOT_FOUND_LEN + words * sizeof(slot->walk.words[0]);
    uint8_t *at = cn_rings_room(rings, HEAD_LEN + SLOT_HEAD_LEN + found_len + copy_len,
                                slot->time_ns);
    memset(at, 0, HEAD_LEN);
    cn_u32_put(at, CN_COLLECT_SLOT);
    memcpy(at + HEAD_LEN, (const void *)slot, SLOT_HEAD_LEN);
    at += HEAD_LEN + SLOT_HEAD_LEN;
    memcpy(at, (const uint8_t *)slot + offsetof(struct cn_inside_slot, walk.found),
           found_len);
    memcpy(at + found_len, slot->copy, copy_len);
}

/* Frames of a slot in a record; false if they are not whole. */
static bool take_found(struct cn_bytes *rest, struct cn_frame_walk *out)
{
    struct cn_bytes found, words;

    if (!cn_bytes_take(rest, SLOT_FOUND_LEN, &found))
        return false;
    memcpy(&out->found, found.ptr, found.len);
    if (out->found.word_count > CN_FRAME_WORDS_MAX ||
        !cn_bytes_take(rest, out->found.word_count * sizeof(out->words[0]), &words))
        return false;
    memcpy(out->words, words.ptr, words.len);
    return true;
}

bool cn_collector_take_slot(struct cn_sample_collector *c, struct cn_bytes rest,
                            struct cn_error *err)
{
    struct cn_bytes head, copy;

    if (!c->slot)
        c->slot = cn_alloc(1, sizeof(*c->slot));
    if (!cn_bytes_take(&rest, HEAD_LEN, &head) ||
        !cn_bytes_take(&rest, SLOT_HEAD_LEN, &head))
        return true;
    memcpy((void *)c->slot, head.ptr, head.len);
    if ((c->slot->has_frames && !take_found(&rest, &c->slot->walk)) ||
        c->slot->copy_len > CN_INSIDE_COPY_MAX ||
        !cn_bytes_take(&rest, c->slot->copy_len, &copy))
        return true;
    memcpy(c->slot->copy, copy.ptr, copy.len);
    return cn_collector_take_inside(c, c->slot, err);
}

bool cn_collector_take_attached(struct cn_sample_collector *c, struct cn_bytes record,
                                struct cn_error *err)
{
    struct cn_synthesis to = {cn_collector_take, c, cn_clock_ns(), false};
    struct cn_inside_release release;
    struct cn_error ignored = {0};
    uint32_t *known;

    if (cn_attached_release(record, &release))
        return cn_collector_take_release(c, &release, err);
    if (!c->slot)
        c->slot = cn_alloc(1, sizeof(*c->slot));
    if (!cn_attached_slot(record, c->slot))
        return true;
    c->alloc_count++;
    /* The kernel does not report where it has put the instructions that probes replace. */
    known = cn_map_at(&c->stored_mappings_of, c->slot->pid, 0);
    if (!(*known & KNOWS_PROBES)) {
        *known |= KNOWS_PROBES;
        (void)!cn_synthesize_process(&to, (pid_t)c->slot->pid, &ignored);
    }
    return cn_collector_take_inside(c, c->slot, err);
}

bool cn_collector_take_release(void *collector, const struct cn_inside_release *release,
                               struct cn_error *err)
{
    struct cn_perf_memory body = {
        .kind = CN_PERF_IS_RELEASE,
        .time_ns = release->time_ns,
        .pid = release->pid,
        .tid = release->tid,
        .image = release->image,
        .address = release->address,
        .flags = release->is_next ? CN_PERF_MEMORY_IS_NEXT : 0,
    };

    return write_memory(collector, &body, NULL, 0, err);
}

bool cn_collector_add_memory(void *collector, const struct cn_perf_memory *record,
                             struct cn_error *err)
{
    struct cn_perf_memory body = *record;

    return write_memory(collector, &body, NULL, 0, err);
}

bool cn_collector_write_memory(struct cn_sample_collector *c, uint64_t lost_count,
                               uint32_t notes, struct cn_error *err)
{
    struct cn_perf_memory body = {
        .kind = CN_PERF_IS_MEMORY_END,
        .time_ns = cn_clock_ns(),
        .size = lost_count,
        .flags = notes & (CN_INSIDE_RELEASES_FULL | CN_INSIDE_SANDBOXED)
                     ? CN_PERF_MEMORY_IS_CUT
                     : 0,
    };

    return write_memory(c, &body, NULL, 0, err);
}

bool cn_collector_take_inside(void *collector, struct cn_inside_slot *slot,
                              struct cn_error *err)
{
    struct cn_sample_collector *c = collector;
    struct cn_synthesis to = {cn_collector_take, c, slot->time_ns, false};
    uint64_t period_ns =
        c->options->period > 0 ? c->options->period : 1000000000 / c->options->frequency;
    struct cn_unwound_task task = {slot->pid, slot->tid, slot->time_ns};
    uint64_t chain[CN_COLLECT_CHAIN_MAX];

    if (slot->copy_len > CN_INSIDE_COPY_MAX)
        return true;
    if (slot->kind == CN_INSIDE_OBJECT) {
        cn_unwound_take_object(&c->stacks, slot->pid,
                               (struct cn_bytes){slot->copy, slot->copy_len});
        return true;
    }
    if (slot->kind == CN_INSIDE_ALLOC)
        return take_alloc(c, slot, err);
    if (slot->kind == CN_INSIDE_BEGIN) {
        struct cn_text maps = {0};

        cn_text_add(&maps, (const char *)slot->copy, slot->copy_len);
        bool ok = cn_synthesize_exec(&to, (pid_t)slot->pid, maps.chars, err);
        cn_text_done(&maps);
        return ok;
    }
    if (slot->has_frames)
        cn_unwound_take_frames(&c->stacks, frames_of(slot));
    size_t count = unwind_inside(c, slot, chain);
    return cn_collector_add_sample(c, &task, slot->period_count * period_ns, chain, count,
                                   err);
}
