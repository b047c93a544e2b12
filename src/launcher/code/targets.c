#include "launcher/code/targets.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/sort.h"
#include "launcher/code/frames.h"

/* Entries of jump tables to read, as a multiple of the bytes of data. */
enum { TABLE_WORK = 8 };

#define CODE_LEN_MAX (UINT64_C(1) << 31)

struct targets_finding {
    const struct cn_code *code;
    struct cn_code_targets *targets;
    struct cn_code_addresses bases; /* in data, that code refers to */
    uint64_t work;
};

static bool is_code(const struct cn_code_targets *targets, uint64_t address)
{
    return address - targets->low < targets->high - targets->low;
}

static void set(const struct cn_code_targets *targets, uint8_t *bits, uint64_t address)
{
    uint64_t i = address - targets->low;

    if (is_code(targets, address))
        bits[i / 8] |= (uint8_t)(1u << i % 8);
}

static bool get(const struct cn_code_targets *targets, const uint8_t *bits,
                uint64_t address)
{
    uint64_t i = address - targets->low;

    return is_code(targets, address) && (bits[i / 8] >> i % 8 & 1);
}

void cn_code_targets_add(struct cn_code_targets *targets, uint64_t address)
{
    set(targets, targets->bits, address);
}

bool cn_code_targets_has(const struct cn_code_targets *targets, uint64_t address)
{
    return get(targets, targets->bits, address);
}

bool cn_code_targets_has_table(const struct cn_code_targets *targets, uint64_t low,
                               uint64_t high)
{
    for (uint64_t at = low; at < high; at++) {
        if (get(targets, targets->table_bits, at))
            return true;
    }
    return false;
}

static void add_from_data(struct targets_finding *finding, uint64_t address)
{
    set(finding->targets, finding->targets->bits, address);
    set(finding->targets, finding->targets->table_bits, address);
}

static bool is_function(const struct cn_code *code, uint64_t address)
{
    const struct cn_code_frame *frame = cn_code_frame_at(code, address);

    return (frame && frame->start == address) ||
           cn_code_next(&code->labels, address) == address;
}

/* Distances of 32 bits follow the opcode of a call or jump, or the byte that says that an
 * operand is relative to rip. Only `lea` makes an address of that: no operand follows. */
static void look_at_code(struct targets_finding *finding,
                         const struct cn_code_section *section)
{
    const uint8_t *bytes = section->bytes.ptr;

    for (size_t i = 1; i + 4 <= section->bytes.len; i++) {
        uint8_t last = bytes[i - 1], before = i >= 2 ? bytes[i - 2] : 0;
        bool is_operand = (last & 0xc7) == 0x05;
        uint32_t field = cn_u32_get(bytes + i);
        uint64_t target = section->address + i + 4 + (uint64_t)(int64_t)(int32_t)field;

        if (finding->code->is_fixed)
            cn_code_targets_add(finding->targets, field);
        if (!is_operand && last != 0xe8 && last != 0xe9 &&
            !(before == 0x0f && (last & 0xf0) == 0x80) &&
            !(before == 0xc7 && last == 0xf8))
            continue;
        if (is_code(finding->targets, target))
            cn_code_targets_add(finding->targets, target);
        if (is_operand && !is_function(finding->code, target))
            cn_code_add_address(&finding->bases, target);
    }
}

static void look_at_data(struct targets_finding *finding,
                         const struct cn_code_section *section)
{
    for (size_t i = -section->address & 7; i + 8 <= section->bytes.len; i += 8)
        add_from_data(finding, cn_u64_get(section->bytes.ptr + i));
}

/* The function that an address is in: the start of its frame; 0 when it has none. */
static uint64_t function_of(const struct cn_code *code, uint64_t address)
{
    const struct cn_code_frame *frame = cn_code_frame_at(code, address);

    return frame ? frame->start : 0;
}

/* Read what may be a jump table, of distances from its start: as long as its entries are
 * in code, and at the next address that code refers to, only as long as they are in the
 * function of the first or the last entry. */
static void read_table(struct targets_finding *finding, uint64_t base, uint64_t next)
{
    const struct cn_code_section *section = cn_code_section_at(finding->code, base);
    uint64_t end = section ? section->address + section->bytes.len : 0;
    uint64_t first = 0, last = 0;

    for (uint64_t at = base; section && at + 4 <= end; at += 4) {
        uint32_t entry = cn_u32_get(section->bytes.ptr + (at - section->address));
        uint64_t target = base + (uint64_t)(int64_t)(int32_t)entry, function;

        if (!is_code(finding->targets, target))
            return;
        function = function_of(finding->code, target);
        if (at >= next && function != first && function != last)
            return;
        if (finding->work-- == 0) {
            finding->targets->is_incomplete = true;
            finding->work = 0;
            return;
        }
        add_from_data(finding, target);
        first = at == base ? function : first;
        last = function;
    }
}

static void read_tables(struct targets_finding *finding)
{
    struct cn_code_addresses *bases = &finding->bases;

    CN_SORT_VALUES(bases->list, bases->count);
    for (size_t i = 0; i < bases->count; i++) {
        size_t next = i + 1;

        while (next < bases->count && bases->list[next] == bases->list[i])
            next++;
        read_table(finding, bases->list[i],
                   next < bases->count ? bases->list[next] : UINT64_MAX);
        i = next - 1;
    }
}

static void add_handler(void *arg, uint64_t start, uint64_t end, uint64_t handler)
{
    (void)start;
    (void)end;
    cn_code_targets_add(arg, handler);
}

bool cn_code_targets_find(struct cn_code_targets *targets, const struct cn_code *code)
{
    struct targets_finding finding = {.code = code, .targets = targets, .work = 4096};

    *targets = (struct cn_code_targets){.low = UINT64_MAX};
    for (size_t i = 0; i < code->section_count; i++) {
        const struct cn_code_section *section = &code->sections[i];

        finding.work += section->is_code ? 0 : section->bytes.len * TABLE_WORK;
        if (!section->is_code)
            continue;
        targets->low = section->address < targets->low ? section->address : targets->low;
        targets->high = section->address + section->bytes.len;
    }
    if (targets->low >= targets->high || targets->high - targets->low > CODE_LEN_MAX)
        return false;
    targets->bits = cn_alloc((targets->high - targets->low) / 8 + 1, 1);
    targets->table_bits = cn_alloc((targets->high - targets->low) / 8 + 1, 1);
    for (size_t i = 0; i < code->section_count; i++) {
        if (code->sections[i].is_code)
            look_at_code(&finding, &code->sections[i]);
        else if (code->has_pointers_in_data)
            look_at_data(&finding, &code->sections[i]);
    }
    for (size_t i = 0; i < code->pointers.count; i++)
        add_from_data(&finding, code->pointers.list[i]);
    read_tables(&finding);
    free(finding.bases.list);
    for (size_t i = 0; i < code->frame_count; i++)
        (void)cn_code_handlers_walk(code, &code->frames[i], add_handler, targets);
    return true;
}

void cn_code_targets_done(struct cn_code_targets *targets)
{
    free(targets->bits);
    free(targets->table_bits);
    *targets = (struct cn_code_targets){0};
}
