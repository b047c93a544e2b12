#include "sampler/languages/interpreter.h"

#include <string.h>

#include "base/bytes/record.h"
#include "base/text.h"

enum { WORDS_MAX = 128 /* of the frame of a call */ };

/* So many stacks, and one of so many, must lack functions before a hint says so. */
enum { MISSING_MIN = 10, MISSING_SHARE = 20 };

static bool is_in(struct cn_interpreter_range range, uint64_t address)
{
    return address >= range.begin && address < range.end;
}

bool cn_interpreter_is_entry(const struct cn_interpreter *in, const uint64_t *chain,
                             size_t i)
{
    return is_in(in->entry, chain[i] - (i > 0));
}

bool cn_interpreter_runs(const struct cn_interpreter *in, const uint64_t *chain,
                         size_t chain_len)
{
    for (size_t i = 0; i < chain_len; i++)
        if (cn_interpreter_is_entry(in, chain, i))
            return true;
    return false;
}

/* An address of the body, before one of the entry. */
static bool is_body(const struct cn_interpreter *in, const uint64_t *chain, size_t i,
                    size_t chain_len)
{
    return is_in(in->body, chain[i] - (i > 0)) && i + 1 < chain_len &&
           cn_interpreter_is_entry(in, chain, i + 1);
}

void cn_interpreter_see(struct cn_interpreter *in, const struct cn_unwind_step *step)
{
    bool is_arm = step->registers.machine == CN_UNWIND_AARCH64;
    uint64_t pc = step->registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP];
    uint64_t sp = step->registers.value[is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP];

    if (in->round != in->memory->round) {
        in->round = in->memory->round;
        in->call_count = 0;
        in->is_in_call = false;
    }
    /* The frame ends where that of its caller begins. */
    if (in->is_in_call) {
        struct cn_interpreter_call *call = &in->calls[in->call_count - 1];
        uint64_t begin = call->stack_begin;

        if (sp < begin || begin < step->stack_begin ||
            !cn_bytes_slice(step->stack, begin - step->stack_begin,
                            sp - begin < 8 * WORDS_MAX ? sp - begin : 8 * WORDS_MAX,
                            &call->stack))
            call->stack = (struct cn_bytes){0};
    }
    in->is_in_call = is_in(in->entry, pc - !step->is_innermost) &&
                     in->call_count < CN_INTERPRETER_CALLS_MAX;
    if (in->is_in_call)
        in->calls[in->call_count++] =
            (struct cn_interpreter_call){.registers = step->registers, .stack_begin = sp};
}

bool cn_interpreter_holds(const struct cn_interpreter_call *call,
                          struct cn_interpreter_range range, uint64_t *out)
{
    bool is_found = false;

    *out = range.begin;
    range.end++;
    for (size_t i = 0; i < CN_UNWIND_REGISTER_MAX && *out == range.begin; i++) {
        if (!(call->registers.known >> i & 1) || !is_in(range, call->registers.value[i]))
            continue;
        is_found = true;
        *out = call->registers.value[i];
    }
    for (size_t i = 0; i + 8 <= call->stack.len && *out == range.begin; i += 8) {
        if (!is_in(range, cn_u64_get(call->stack.ptr + i)))
            continue;
        is_found = true;
        *out = cn_u64_get(call->stack.ptr + i);
    }
    return is_found;
}

/* The end of the frames of the call that begins at `at`. */
static size_t end_of_call(const struct cn_interpreter_frames *frames, size_t at)
{
    while (at < frames->count && !(frames->flags[at] & CN_INTERPRETER_FIRST))
        at++;
    return at < frames->count ? at + 1 : at;
}

/* The frames of one call in the place of `address`, or that. */
static void add_call(struct cn_interpreter *in,
                     const struct cn_interpreter_frames *frames, size_t begin, size_t end,
                     const struct cn_interpreter_call *call, uint64_t address,
                     size_t *count)
{
    const size_t room = sizeof(in->merged) / sizeof(in->merged[0]);
    size_t before = *count;
    bool is_good = begin < end;

    for (size_t i = begin; i < end && is_good; i++) {
        uint64_t name = 0;

        if (!(frames->flags[i] & CN_INTERPRETER_EMPTY) && *count < room)
            name = frames->name(frames->arg, i, i == begin ? call : NULL);
        is_good = name != 0;
        if (is_good)
            in->merged[(*count)++] = name;
    }
    if (!is_good) {
        in->merged[before] = address;
        *count = before + 1;
    }
}

/* Calls that nothing confirms, of frames that were read after the stack: what they called then is
 * not what was read. Returns how many, counted from the innermost, can not be believed. */
static size_t count_doubtful(const struct cn_interpreter *in,
                             const struct cn_interpreter_frames *frames, size_t at,
                             size_t entry_count, size_t skipped)
{
    size_t doubtful = 0;

    for (size_t entry = skipped + 1; entry <= entry_count && at < frames->count;
         entry++) {
        if (frames->flags[at] & CN_INTERPRETER_EMPTY ||
            frames->name(frames->arg, at, &in->calls[entry - 1]) == 0)
            doubtful = entry;
        at = end_of_call(frames, at);
    }
    return doubtful;
}

size_t cn_interpreter_merge(struct cn_interpreter *in,
                            const struct cn_interpreter_frames *frames, uint64_t *chain,
                            size_t chain_len, size_t most, bool is_whole)
{
    const size_t room = sizeof(in->merged) / sizeof(in->merged[0]);
    size_t entry_count = 0, call_count = 0, entry = 0, count = 0, skipped = 0, at = 0;

    for (size_t i = 0; i < chain_len; i++)
        entry_count += cn_interpreter_is_entry(in, chain, i);
    for (size_t i = 0; i < frames->count; i++)
        call_count += frames->flags[i] & CN_INTERPRETER_FIRST;
    if (entry_count == 0 || (frames->is_late && entry_count != in->call_count))
        return chain_len;
    if (is_whole && !frames->is_cut) {
        /* A call that begins or ends has no frames. */
        skipped = entry_count > call_count ? 1 : 0;
        if (frames->is_early && call_count == entry_count + 1) {
            at = end_of_call(frames, 0);
            call_count--;
        }
        if (entry_count - skipped != call_count)
            return chain_len;
    }
    size_t doubtful =
        frames->is_late ? count_doubtful(in, frames, at, entry_count, skipped) : 0;
    for (size_t i = 0; i < chain_len && count < room; i++) {
        bool is_call = cn_interpreter_is_entry(in, chain, i);

        entry += is_call;
        if (is_body(in, chain, i, chain_len)) {
            continue;
        } else if (is_call && entry > skipped && at < frames->count) {
            size_t end = end_of_call(frames, at);

            add_call(in, frames, entry > doubtful ? at : end, end,
                     frames->is_late ? &in->calls[entry - 1] : NULL, chain[i], &count);
            at = end;
        } else {
            in->merged[count++] = chain[i];
        }
    }
    count = count < most ? count : most;
    memcpy(chain, in->merged, count * sizeof(*chain));
    return count;
}

void cn_interpreter_count_late(struct cn_interpreter *in, const uint64_t *chain,
                               size_t chain_len)
{
    in->late_count++;
    in->missing_count += cn_interpreter_runs(in, chain, chain_len);
}

char *cn_interpreter_hint(const struct cn_interpreter *in, const char *language)
{
    if (in->missing_count < MISSING_MIN ||
        in->missing_count < in->late_count / MISSING_SHARE)
        return NULL;
    return cn_strprintf("%s: samples lack functions that copies of stacks cannot prove; "
                        "they are read at the sample where BPF is allowed, or with "
                        "--call-graph signals",
                        language);
}

void cn_interpreted_add(struct cn_interpreted *in, size_t row, uint8_t flags)
{
    if (in->frame_count == CN_INTERPRETER_FRAMES_MAX)
        return;
    in->rows_of[in->frame_count] = (uint32_t)row;
    in->flags[in->frame_count++] = flags;
}

const uint64_t *cn_interpreted_row(const struct cn_interpreted *in, size_t frame)
{
    return in->rows + in->row_len * in->rows_of[frame];
}

static void list_frames(struct cn_interpreted *in, const struct cn_frames_found *found,
                        const uint64_t *words)
{
    in->frame_count = 0;
    in->is_late = words == in->walk.words;
    in->head = words;
    in->rows = words + found->head_len;
    in->row_len = found->row_len;
    in->row_count =
        found->row_len > 0 ? (found->word_count - found->head_len) / found->row_len : 0;
    in->kind->list(in->arg, in);
}

/* The frames of a thread as they are now. Two walks must agree: the thread runs on. */
static bool walk(struct cn_interpreted *in, uint32_t tid)
{
    struct cn_memory *memory = in->interpreter.memory;
    uint64_t state = in->kind->find(in->arg, tid);

    if (state == 0 || !cn_frame_walk_from(&in->walk, &in->late, state))
        return false;
    struct cn_frames_found found = in->walk.found;
    memcpy(in->again, in->walk.words, found.word_count * sizeof(in->again[0]));
    cn_memory_begin(memory, memory->pid, memory->left);
    in->interpreter.round = memory->round;
    if (!cn_frame_walk_from(&in->walk, &in->late, state) ||
        in->walk.found.word_count != found.word_count)
        return false;
    for (size_t i = found.head_len; i < found.word_count; i++)
        if (in->kind->same_mask >> (i - found.head_len) % found.row_len & 1 &&
            in->again[i] != in->walk.words[i])
            return false;
    list_frames(in, &in->walk.found, in->walk.words);
    return true;
}

static size_t merge(struct cn_interpreted *in, struct cn_interpreter_frames *frames,
                    const struct cn_language_sample *sample, uint64_t *chain,
                    size_t count, size_t most)
{
    frames->is_late = in->is_late;
    frames->count = in->frame_count;
    return cn_interpreter_merge(&in->interpreter, frames, chain, count, most,
                                sample->is_whole);
}

size_t cn_interpreted_finish(struct cn_interpreted *in,
                             const struct cn_language_sample *sample, uint64_t *chain,
                             size_t count, size_t most)
{
    struct cn_interpreter_frames frames = {
        .flags = in->flags,
        .is_early = true,
        .name = in->kind->name,
        .arg = in->arg,
    };

    if (!cn_interpreter_runs(&in->interpreter, chain, count))
        return count;
    if (sample->found && sample->found->language == in->kind->language &&
        sample->found->row_len == in->table.row_len &&
        sample->found->head_len == in->table.head_len) {
        list_frames(in, sample->found, sample->words);
        frames.is_cut = sample->found->is_cut;
        return merge(in, &frames, sample, chain, count, most);
    }
    if (walk(in, sample->tid)) {
        frames.is_cut = in->walk.found.is_cut;
        count = merge(in, &frames, sample, chain, count, most);
    }
    cn_interpreter_count_late(&in->interpreter, chain, count);
    return count;
}
