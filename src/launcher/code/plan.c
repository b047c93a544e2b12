#include "launcher/code/plan.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/list.h"
#include "base/sort.h"
#include "launcher/code/frames.h"
#include "launcher/code/targets.h"

enum { SHORT_REACH = 130, X86_SLED_LEN = 11, ARM_SLED_LEN = 32 };

static const char *const texts[CN_CODE_LEFT_COUNT] = {
    [CN_CODE_PATCHED] = "patched",
    [CN_CODE_TOO_SHORT] = "too short",
    [CN_CODE_JUMPED_INTO] = "jump into the prologue",
    [CN_CODE_LOOP] = "jump to their beginning",
    [CN_CODE_CALL] = "call in the prologue",
    [CN_CODE_FIXED] = "prologue cannot be moved",
    [CN_CODE_TABLE] = "jump table unknown",
    [CN_CODE_SHARED] = "share code",
    [CN_CODE_NO_FRAME] = "no unwind information",
    [CN_CODE_HANDLER] = "exception in the prologue",
    [CN_CODE_START] = "startup code",
    [CN_CODE_WALKER] = "of a runtime that reads return addresses",
    [CN_CODE_BASE] = "in a library that the recorder uses",
    [CN_CODE_NO_HOOK] = "not built for patching",
};

const char *cn_code_left_text(enum cn_code_left left)
{
    return texts[left];
}

/* Code that runs before the program, and functions that return twice or elsewhere. */
static bool is_special(const char *name)
{
    static const char *const names[] = {
        "_start",
        "_init",
        "_fini",
        "__libc_csu_init",
        "__libc_csu_fini",
        "deregister_tm_clones",
        "register_tm_clones",
        "__do_global_dtors_aux",
        "frame_dummy",
        "call_weak_fn",
        "_dl_relocate_static_pie",
        "setjmp",
        "_setjmp",
        "__setjmp",
        "sigsetjmp",
        "__sigsetjmp",
        "longjmp",
        "_longjmp",
        "siglongjmp",
        "getcontext",
        "setcontext",
        "swapcontext",
        "vfork",
    };

    return cn_list_has(names, CN_COUNT_OF(names), name) || strstr(name, ".cold");
}

struct planning {
    struct cn_code_plan *plan;
    const struct cn_code *code;
    struct cn_prologue *candidates;
    size_t count, capacity;
    struct cn_code_targets targets;
    /* Where instructions begin for certain, and whether short jumps from there up to the
     * next one are known. */
    struct cn_code_addresses starts;
    bool *has_jumps;
};

static void add_patch(struct cn_code_plan *plan, const struct cn_rec_patch *patch)
{
    CN_PUSH(plan->patches, plan->count, plan->capacity, *patch);
    plan->left[CN_CODE_PATCHED]++;
}

/* Calls that exceptions may leave, in the instructions to move. */
struct overlap {
    uint64_t start, end;
    bool is_found;
};

static void compare_handler(void *arg, uint64_t start, uint64_t end, uint64_t handler)
{
    struct overlap *overlap = arg;

    (void)handler;
    overlap->is_found |= start < overlap->end && end > overlap->start;
}

static enum cn_code_left check_frame(const struct cn_code *code,
                                     const struct cn_prologue *prologue,
                                     const struct cn_code_frame *frame)
{
    const struct cn_rec_patch *patch = &prologue->patch;
    struct overlap overlap = {patch->at, patch->at + patch->len, false};

    if (cn_code_next(&code->labels, prologue->entry + 1) < overlap.end)
        return CN_CODE_SHARED;
    if (frame && (!cn_code_handlers_walk(code, frame, compare_handler, &overlap) ||
                  overlap.is_found))
        return CN_CODE_HANDLER;
    return CN_CODE_PATCHED;
}

/* Everything except for jumps from elsewhere. */
static enum cn_code_left look_at(const struct cn_code *code,
                                 const struct cn_code_function *function,
                                 struct cn_prologue *out)
{
    const struct cn_code_frame *frame = cn_code_frame_at(code, function->address);
    bool is_x86 = code->machine == EM_X86_64;
    enum cn_code_left left;

    *out = (struct cn_prologue){.entry = function->address,
                                .end = function->address + function->size};
    if (is_special(function->name))
        return CN_CODE_START;
    if (code->frame_count > 0 &&
        (!frame || frame->start != function->address || !frame->is_entry))
        return CN_CODE_NO_FRAME;
    if (frame && frame->end < out->end)
        out->end = frame->end;
    if (out->end <= out->entry)
        return CN_CODE_TOO_SHORT;
    left = is_x86 ? cn_prologue_x86_64(out, code) : cn_prologue_aarch64(out, code);
    if (left == CN_CODE_PATCHED)
        left = check_frame(code, out, frame);
    if (left == CN_CODE_PATCHED && is_x86 && cn_prologue_has_loop(out, code))
        left = CN_CODE_LOOP;
    return left;
}

static enum cn_code_left look_at_nops(const struct cn_code *code,
                                      const struct cn_code_function *function,
                                      struct cn_rec_patch *out)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    const uint8_t *bytes;

    *out = (struct cn_rec_patch){.at = function->address, .len = sizeof(nop)};
    bytes = cn_code_bytes(code, out->at, sizeof(endbr) + sizeof(nop));
    if (bytes && memcmp(bytes, endbr, sizeof(endbr)) == 0)
        out->at += sizeof(endbr);
    bytes = cn_code_bytes(code, out->at, sizeof(nop));
    if (!bytes || code->machine != EM_X86_64 || memcmp(bytes, nop, sizeof(nop)) != 0)
        return CN_CODE_NO_HOOK;
    out->sum = cn_rec_patch_sum(bytes, out->len);
    return CN_CODE_PATCHED;
}

/* A sled is a jump over nops. */
static bool is_sled(const struct cn_code *code, uint64_t at, uint8_t *len)
{
    *len = code->machine == EM_X86_64 ? X86_SLED_LEN : ARM_SLED_LEN;
    const uint8_t *bytes = cn_code_bytes(code, at, *len);
    if (!bytes)
        return false;
    if (code->machine == EM_X86_64)
        return bytes[0] == 0xeb && bytes[1] == X86_SLED_LEN - 2;
    for (uint8_t i = 4; i < ARM_SLED_LEN; i += 4) {
        if (cn_u32_get(bytes + i) != 0xd503201f)
            return false;
    }
    return cn_u32_get(bytes) == (0x14000000 | ARM_SLED_LEN / 4);
}

static enum cn_code_left look_at_sled(const struct cn_code *code,
                                      const struct cn_code_function *function,
                                      struct cn_rec_patch *out)
{
    uint64_t at = cn_code_next(&code->sleds, function->address);

    *out = (struct cn_rec_patch){.at = at};
    if (at - function->address >= function->size || !is_sled(code, at, &out->len))
        return CN_CODE_NO_HOOK;
    out->sum = cn_rec_patch_sum(cn_code_bytes(code, at, out->len), out->len);
    return CN_CODE_PATCHED;
}

static void find_starts(struct planning *planning)
{
    const struct cn_code *code = planning->code;
    struct cn_code_addresses *starts = &planning->starts;
    size_t count = 0;

    for (size_t i = 0; i < code->section_count; i++)
        if (code->sections[i].is_code)
            cn_code_add_address(starts, code->sections[i].address);
    for (size_t i = 0; i < code->frame_count; i++)
        cn_code_add_address(starts, code->frames[i].start);
    for (size_t i = 0; i < code->labels.count; i++)
        cn_code_add_address(starts, code->labels.list[i]);
    CN_SORT_VALUES(starts->list, starts->count);
    for (size_t i = 0; i < starts->count; i++) {
        if (count == 0 || starts->list[count - 1] != starts->list[i])
            starts->list[count++] = starts->list[i];
    }
    starts->count = count;
    planning->has_jumps = cn_alloc(count, sizeof(*planning->has_jumps));
}

/* Add the short jumps of the code from one start to the next, or to the end of its section. */
static void add_jumps(struct planning *planning, size_t i)
{
    const struct cn_code *code = planning->code;
    uint64_t start = planning->starts.list[i], end, known_end;
    const struct cn_code_section *section = cn_code_section_at(code, start);
    const struct cn_code_frame *frame = cn_code_frame_at(code, start);

    if (planning->has_jumps[i])
        return;
    planning->has_jumps[i] = true;
    if (!section || !section->is_code)
        return;
    end = section->address + section->bytes.len;
    if (i + 1 < planning->starts.count && planning->starts.list[i + 1] < end)
        end = planning->starts.list[i + 1];
    known_end = frame && frame->end < end ? frame->end : end;
    cn_short_jumps_add(&planning->targets, code, start, known_end, end);
}

static void add_jumps_near(struct planning *planning, uint64_t low, uint64_t high)
{
    const struct cn_code_addresses *starts = &planning->starts;
    size_t first = 0, count = starts->count;

    while (count > 1) { /* the last start at or before `low` */
        size_t half = count / 2;

        if (starts->list[first + half] <= low) {
            first += half;
            count -= half;
        } else
            count = half;
    }
    for (size_t i = first; i < starts->count && starts->list[i] < high; i++)
        add_jumps(planning, i);
}

/* Whether something may jump between the instructions of a candidate. */
static enum cn_code_left check_jumps(struct planning *planning,
                                     const struct cn_prologue *prologue)
{
    const struct cn_code *code = planning->code;
    const struct cn_rec_patch *patch = &prologue->patch;

    if (prologue->step_count == 0)
        return CN_CODE_PATCHED;
    add_jumps_near(planning, patch->at > SHORT_REACH ? patch->at - SHORT_REACH : 0,
                   patch->at + patch->len + SHORT_REACH);
    for (uint8_t i = 0; i < prologue->step_count; i++) {
        if (cn_code_targets_has(&planning->targets, patch->at + prologue->steps[i]))
            return CN_CODE_JUMPED_INTO;
    }
    enum cn_code_jumps jumps = cn_prologue_jumps(prologue, code);
    if (jumps == CN_CODE_OTHER_JUMPS ||
        (jumps == CN_CODE_TABLE_JUMPS &&
         (planning->targets.is_incomplete ||
          !cn_code_targets_has_table(&planning->targets, prologue->entry + 1,
                                     prologue->end))))
        return CN_CODE_TABLE;
    return CN_CODE_PATCHED;
}

static void check_candidates(struct planning *planning)
{
    bool ok = true, has_steps = false;

    for (size_t i = 0; i < planning->count; i++)
        has_steps |= planning->candidates[i].step_count > 0;
    if (has_steps) {
        ok = cn_code_targets_find(&planning->targets, planning->code);
        find_starts(planning);
    }
    for (size_t i = 0; i < planning->count; i++) {
        const struct cn_prologue *prologue = &planning->candidates[i];
        enum cn_code_left left =
            ok ? check_jumps(planning, prologue) : CN_CODE_JUMPED_INTO;

        if (left == CN_CODE_PATCHED)
            add_patch(planning->plan, &prologue->patch);
        else
            planning->plan->left[left]++;
    }
    cn_code_targets_done(&planning->targets);
}

void cn_code_plan_make(struct cn_code_plan *plan, const struct cn_code *code,
                       const struct cn_code_function *functions, size_t count)
{
    struct planning planning = {.plan = plan, .code = code};

    *plan = (struct cn_code_plan){0};
    for (size_t i = 0; i < count; i++) {
        struct cn_prologue prologue = {0};
        enum cn_code_left left;

        if (code->is_base)
            left = CN_CODE_BASE;
        else if (code->has_walker)
            left = CN_CODE_WALKER;
        else if (code->hooks == CN_CODE_UNHOOKED)
            left = look_at(code, &functions[i], &prologue);
        else if (code->hooks == CN_CODE_NOPS)
            left = look_at_nops(code, &functions[i], &prologue.patch);
        else
            left = look_at_sled(code, &functions[i], &prologue.patch);
        if (left != CN_CODE_PATCHED) {
            plan->left[left]++;
            continue;
        }
        CN_PUSH(planning.candidates, planning.count, planning.capacity, prologue);
    }
    check_candidates(&planning);
    free(planning.candidates);
    free(planning.starts.list);
    free(planning.has_jumps);
}

void cn_code_plan_done(struct cn_code_plan *plan)
{
    free(plan->patches);
    *plan = (struct cn_code_plan){0};
}
