#include "base/bytes/record.h"
#include "launcher/code/prologue.h"

enum { WORD = 4 };

static void append(struct cn_rec_patch *patch, uint32_t word)
{
    cn_u32_put(patch->code + patch->code_len, word);
    patch->code_len = (uint8_t)(patch->code_len + WORD);
}

/* What is appended next refers to `target`, relative to the moved instruction. */
static void add_fixup(struct cn_rec_patch *patch, enum cn_rec_fixup_kind kind,
                      int64_t target)
{
    patch->fixups[patch->fixup_count++] = (struct cn_rec_fixup){
        .target = (int32_t)target,
        .field = patch->code_len,
        .kind = (uint8_t)kind,
    };
    append(patch, 0x14000000);
    if (kind == CN_REC_FIXUP_ADDRESS)
        append(patch, 0);
}

static void go_back(struct cn_rec_patch *patch)
{
    add_fixup(patch, CN_REC_FIXUP_BRANCH, WORD);
}

/* The field of `width` bits at `at`, with a sign. */
static int64_t field_of(uint32_t word, unsigned at, unsigned width)
{
    uint64_t field = (uint64_t)word >> at << (64 - width);

    return (int64_t)field >> (64 - width);
}

static bool is_adr(uint32_t word)
{
    return (word & 0x1f000000) == 0x10000000;
}

static bool is_load(uint32_t word)
{
    return (word & 0x3b000000) == 0x18000000;
}

/* b.cond, cbz, cbnz, tbz, tbnz: with the distance at bit 5. */
static bool is_conditional(uint32_t word, unsigned *width)
{
    *width = (word & 0x7e000000) == 0x36000000 ? 14 : 19;
    return (word & 0xff000000) == 0x54000000 || (word & 0x7c000000) == 0x34000000;
}

/* True if it is a jump, and how far. */
static bool is_jump(uint32_t word, int64_t *distance)
{
    unsigned width;

    if ((word & 0xfc000000) == 0x14000000)
        *distance = field_of(word, 0, 26) * WORD;
    else if (is_conditional(word, &width))
        *distance = field_of(word, 5, width) * WORD;
    else
        return false;
    return true;
}

/* ldr, #8; b back; address */
static enum cn_code_left move_adr(struct cn_rec_patch *patch, uint32_t word)
{
    int64_t value = field_of(word, 5, 19) * 4 + (word >> 29 & 3);

    if ((word & 31) == 31)
        return CN_CODE_FIXED;
    if (word >> 31)
        value = (int64_t)((patch->at & ~(uint64_t)0xfff) - patch->at) + value * 4096;
    if (value != (int32_t)value)
        return CN_CODE_FIXED;
    append(patch, 0x58000040 | (word & 31));
    go_back(patch);
    add_fixup(patch, CN_REC_FIXUP_ADDRESS, value);
    return CN_CODE_PATCHED;
}

/* ldr, #12; ldr from there; b back; address. Of integers only: others need a register for
 * the address. */
static enum cn_code_left move_load(struct cn_rec_patch *patch, uint32_t word)
{
    static const uint32_t loads[] = {0xb9400000, 0xf9400000, 0xb9800000};
    uint32_t kind = word >> 30, reg = word & 31;

    if ((word & 0x04000000) || kind == 3 || reg == 31)
        return CN_CODE_FIXED;
    append(patch, 0x58000060 | reg);
    append(patch, loads[kind] | reg << 5 | reg);
    go_back(patch);
    add_fixup(patch, CN_REC_FIXUP_ADDRESS, field_of(word, 5, 19) * WORD);
    return CN_CODE_PATCHED;
}

static enum cn_code_left move(struct cn_rec_patch *patch, uint32_t word)
{
    uint32_t mask;
    unsigned width;
    int64_t distance;

    if ((word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000 ||
        (word & 0xfefff800) == 0xd63f0800)
        return CN_CODE_CALL; /* bl, blr, blraa */
    if ((word & 0xff000000) == 0xd4000000 || word >> 16 == 0)
        return CN_CODE_FIXED; /* svc, brk, udf */
    if (is_adr(word))
        return move_adr(patch, word);
    if (is_load(word))
        return move_load(patch, word);
    if (is_conditional(word, &width)) {
        distance = field_of(word, 5, width) * WORD;
        mask = ((1u << width) - 1) << 5;
        append(patch, (word & ~mask) | 2u << 5); /* over the next one */
        go_back(patch);
        add_fixup(patch, CN_REC_FIXUP_BRANCH, distance);
    } else if (is_jump(word, &distance)) {
        add_fixup(patch, CN_REC_FIXUP_BRANCH, distance);
    } else {
        append(patch, word);
        go_back(patch);
    }
    return CN_CODE_PATCHED;
}

/* True if an instruction of the function jumps to its beginning. */
static bool has_loop(const struct cn_prologue *prologue, const uint8_t *bytes)
{
    uint64_t len = prologue->end - prologue->entry;

    for (uint64_t i = 0; i + WORD <= len; i += WORD) {
        int64_t distance;

        if (!is_jump(cn_u32_get(bytes + i), &distance))
            continue;
        uint64_t target = prologue->entry + i + (uint64_t)distance;
        if (target >= prologue->entry && target <= prologue->patch.at)
            return true;
    }
    return false;
}

/* One instruction is moved: nothing can jump between. */
enum cn_code_left cn_prologue_aarch64(struct cn_prologue *prologue,
                                      const struct cn_code *code)
{
    struct cn_rec_patch *patch = &prologue->patch;
    uint64_t len = prologue->end - prologue->entry;
    const uint8_t *bytes = cn_code_bytes(code, prologue->entry, len);
    uint64_t off = 0;

    if (!bytes || prologue->entry % WORD != 0)
        return CN_CODE_FIXED;
    if (len >= WORD && (cn_u32_get(bytes) & 0xffffff3f) == 0xd503241f)
        off = WORD; /* bti */
    if (len < off + WORD)
        return CN_CODE_TOO_SHORT;
    patch->at = prologue->entry + off;
    patch->len = WORD;
    patch->sum = cn_rec_patch_sum(bytes + off, WORD);
    if (has_loop(prologue, bytes))
        return CN_CODE_LOOP;
    return move(patch, cn_u32_get(bytes + off));
}
