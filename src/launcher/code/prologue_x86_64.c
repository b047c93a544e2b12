#include "launcher/code/prologue.h"

#include <elf.h>
#include <string.h>

#include "base/bytes/record.h"
#include "launcher/code/targets.h"

#ifdef CN_HAS_CAPSTONE
#include "symbols/program/capstone.h"

enum { JUMP_LEN = 5, SHORT_REACH = 130, WINDOW = 32 };

bool cn_prologue_is_known(unsigned machine)
{
    return machine == EM_AARCH64 || (machine == EM_X86_64 && cn_capstone());
}

/* One for the whole process, opened at the first use. */
static csh disassembler(void)
{
    static csh handle;

    const struct cn_capstone *capstone = cn_capstone();

    if (!handle && capstone &&
        capstone->open(CS_ARCH_X86, CS_MODE_64, &handle) == CS_ERR_OK)
        (void)capstone->option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    return handle;
}

static bool is_in_group(const cs_insn *insn, uint8_t group)
{
    for (uint8_t i = 0; i < insn->detail->groups_count; i++) {
        if (insn->detail->groups[i] == group)
            return true;
    }
    return false;
}

/* State of moving instructions. */
struct moving {
    struct cn_prologue *prologue;
    uint64_t depth; /* bytes pushed so far */
    bool is_ended;  /* by a jump or a return */
};

static bool append(struct moving *moving, const uint8_t *bytes, size_t len)
{
    struct cn_rec_patch *patch = &moving->prologue->patch;

    if (patch->code_len + len > CN_REC_MOVED_MAX)
        return false;
    memcpy(patch->code + patch->code_len, bytes, len);
    patch->code_len = (uint8_t)(patch->code_len + len);
    return true;
}

/* The last bytes of the code, from `field` on, refer to `target`. */
static bool add_fixup_of(struct moving *moving, enum cn_rec_fixup_kind kind, size_t field,
                         uint64_t target)
{
    struct cn_rec_patch *patch = &moving->prologue->patch;
    int64_t distance = (int64_t)(target - patch->at);

    if (patch->fixup_count == sizeof(patch->fixups) / sizeof(patch->fixups[0]) ||
        distance != (int32_t)distance)
        return false;
    patch->fixups[patch->fixup_count++] = (struct cn_rec_fixup){
        .target = (int32_t)distance,
        .field = (uint8_t)field,
        .end = patch->code_len,
        .kind = (uint8_t)kind,
    };
    return true;
}

static bool add_fixup(struct moving *moving, size_t field, uint64_t target)
{
    return add_fixup_of(moving, CN_REC_FIXUP_DISTANCE, field, target);
}

/* A direct jump, which becomes a long one. */
static enum cn_code_left move_jump(struct moving *moving, const cs_insn *insn)
{
    const struct cn_prologue *prologue = moving->prologue;
    uint64_t target = (uint64_t)insn->detail->x86.operands[0].imm;
    uint8_t opcode = insn->detail->x86.opcode[0], near = insn->detail->x86.opcode[1];
    uint8_t code[6] = {0x0f};
    size_t len = 6;

    if (opcode == 0xeb || opcode == 0xe9) {
        code[0] = 0xe9;
        len = 5;
        moving->is_ended = true;
    } else if (opcode >= 0x70 && opcode <= 0x7f)
        code[1] = (uint8_t)(opcode + 0x10);
    else if (opcode == 0x0f && near >= 0x80 && near <= 0x8f)
        code[1] = near;
    else
        return CN_CODE_FIXED; /* loop, jrcxz, xbegin */
    if (target >= prologue->entry && target <= prologue->patch.at)
        return CN_CODE_LOOP;
    if (target > prologue->patch.at && target < prologue->patch.at + JUMP_LEN)
        return CN_CODE_JUMPED_INTO;
    if (!append(moving, code, len) ||
        !add_fixup(moving, prologue->patch.code_len - 4u, target))
        return CN_CODE_FIXED;
    return CN_CODE_PATCHED;
}

/* A call returns to where it was, so that stacks can be unwound: push of that address, and
 * a jump. It must be the last instruction. */
static enum cn_code_left move_call(struct moving *moving, const cs_insn *insn)
{
    struct cn_rec_patch *patch = &moving->prologue->patch;
    const cs_x86_op *operand = &insn->detail->x86.operands[0];
    uint64_t ret = insn->address + insn->size;
    uint8_t code[20] = {0xff, 0x35, 0, 0, 0, 0, 0xff};
    uint8_t jump_len = 6;

    if (patch->len < JUMP_LEN || insn->detail->x86.op_count != 1 ||
        insn->detail->x86.opcode[0] == 0x9a)
        return CN_CODE_CALL;
    if (operand->type == X86_OP_IMM) {
        code[6] = 0xe9;
        jump_len = 5;
    } else if (operand->type == X86_OP_MEM && operand->mem.base == X86_REG_RIP)
        code[7] = 0x25;
    else
        return CN_CODE_CALL;
    code[2] = jump_len; /* to the address, which follows the jump */
    bool ok =
        append(moving, code, 6u + jump_len) &&
        add_fixup(moving, patch->code_len - 4u,
                  operand->type == X86_OP_IMM ? (uint64_t)operand->imm
                                              : ret + (uint64_t)operand->mem.disp) &&
        append(moving, code + 12, 8) &&
        add_fixup_of(moving, CN_REC_FIXUP_ADDRESS, patch->code_len - 8u, ret);
    return ok ? CN_CODE_PATCHED : CN_CODE_CALL;
}

/* Instructions that enter the kernel, or whose address matters. */
static bool is_special(const cs_insn *insn)
{
    switch (insn->id) {
    case X86_INS_UD2:
    case X86_INS_HLT:
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER:
    case X86_INS_XBEGIN:
    case X86_INS_XABORT:
    case X86_INS_LOOP:
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE:
        return true;
    default:
        return is_in_group(insn, CS_GRP_INT) || is_in_group(insn, CS_GRP_IRET) ||
               is_in_group(insn, CS_GRP_PRIVILEGE);
    }
}

/* Note how an instruction changes the stack pointer, and whether it reads the return
 * address, which is another one by now. */
static bool reads_return_address(struct moving *moving, const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;

    for (uint8_t i = 0; i < x86->op_count; i++) {
        const cs_x86_op *operand = &x86->operands[i];

        if (operand->type == X86_OP_MEM && operand->mem.base == X86_REG_RSP &&
            insn->id != X86_INS_LEA && insn->id != X86_INS_OR &&
            (operand->mem.index != X86_REG_INVALID ||
             (uint64_t)operand->mem.disp == moving->depth))
            return true;
    }
    if (insn->id == X86_INS_POP)
        return true;
    if (insn->id == X86_INS_PUSH)
        moving->depth += 8;
    else if (insn->id == X86_INS_SUB && x86->op_count == 2 &&
             x86->operands[0].type == X86_OP_REG && x86->operands[0].reg == X86_REG_RSP &&
             x86->operands[1].type == X86_OP_IMM)
        moving->depth += (uint64_t)x86->operands[1].imm;
    return false;
}

static enum cn_code_left move(struct moving *moving, const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    struct cn_rec_patch *patch = &moving->prologue->patch;
    size_t start = patch->code_len;

    if (is_in_group(insn, CS_GRP_CALL))
        return move_call(moving, insn);
    if (is_in_group(insn, CS_GRP_RET)) {
        if (x86->op_count > 0 || x86->opcode[0] != 0xc3)
            return CN_CODE_FIXED;
        moving->is_ended = true;
    }
    if (is_special(insn) || reads_return_address(moving, insn))
        return CN_CODE_FIXED;
    if (is_in_group(insn, CS_GRP_JUMP)) {
        if (x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM)
            return move_jump(moving, insn);
        moving->is_ended = true;
    }
    if (!append(moving, insn->bytes, insn->size))
        return CN_CODE_FIXED;
    for (uint8_t i = 0; i < x86->op_count; i++) {
        const x86_op_mem *mem = &x86->operands[i].mem;

        if (x86->operands[i].type != X86_OP_MEM ||
            (mem->base != X86_REG_RIP && mem->base != X86_REG_EIP))
            continue;
        if (mem->base == X86_REG_EIP || x86->encoding.disp_size != 4 ||
            !add_fixup(moving, start + x86->encoding.disp_offset,
                       insn->address + insn->size + (uint64_t)mem->disp))
            return CN_CODE_FIXED;
    }
    return CN_CODE_PATCHED;
}

/* The jump may be longer than the function, if nops or traps follow up to the next one, at
 * which nothing may jump. */
static enum cn_code_left use_gap(struct moving *moving, const struct cn_code *code,
                                 cs_insn *insn)
{
    struct cn_prologue *prologue = moving->prologue;
    uint64_t address = prologue->end, end = prologue->patch.at + JUMP_LEN;
    size_t rest = (size_t)(end - address) + 15;
    const uint8_t *bytes = cn_code_bytes(code, address, rest);

    if (!moving->is_ended || !bytes || cn_code_next(&code->labels, address) < end)
        return CN_CODE_TOO_SHORT;
    for (uint64_t at = address; at < end; at++) {
        if (cn_code_frame_at(code, at))
            return CN_CODE_TOO_SHORT;
        prologue->steps[prologue->step_count++] = (uint8_t)(at - prologue->patch.at);
    }
    while (address < end) {
        if (!cn_capstone()->disasm_iter(disassembler(), &bytes, &rest, &address, insn) ||
            (insn->id != X86_INS_NOP && insn->id != X86_INS_INT3))
            return CN_CODE_TOO_SHORT;
    }
    prologue->patch.len = JUMP_LEN;
    return CN_CODE_PATCHED;
}

static const uint8_t *skip_landing(struct cn_prologue *prologue,
                                   const struct cn_code *code)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint64_t len = prologue->end - prologue->entry;
    const uint8_t *bytes = cn_code_bytes(code, prologue->entry, len);
    bool has_landing =
        bytes && len > sizeof(endbr) && memcmp(bytes, endbr, sizeof(endbr)) == 0;

    prologue->patch.at = prologue->entry + (has_landing ? sizeof(endbr) : 0);
    return has_landing ? bytes + sizeof(endbr) : bytes;
}

enum cn_code_left cn_prologue_x86_64(struct cn_prologue *prologue,
                                     const struct cn_code *code)
{
    struct cn_rec_patch *patch = &prologue->patch;
    struct moving moving = {.prologue = prologue};
    const uint8_t *bytes = skip_landing(prologue, code), *at = bytes;
    size_t rest = (size_t)(prologue->end - patch->at);
    uint64_t address = patch->at;
    enum cn_code_left left = CN_CODE_PATCHED;
    csh handle = disassembler();
    cs_insn *insn = handle && bytes ? cn_capstone()->malloc(handle) : NULL;

    if (!insn)
        return CN_CODE_FIXED;
    while (patch->len < JUMP_LEN && left == CN_CODE_PATCHED) {
        if (rest == 0)
            left = use_gap(&moving, code, insn);
        else if (moving.is_ended)
            left = CN_CODE_TOO_SHORT;
        else if (!cn_capstone()->disasm_iter(handle, &at, &rest, &address, insn))
            left = CN_CODE_FIXED;
        else {
            if (patch->len > 0)
                prologue->steps[prologue->step_count++] = patch->len;
            patch->len = (uint8_t)(patch->len + insn->size);
            left = move(&moving, insn);
        }
    }
    cn_capstone()->free(insn, 1);
    if (left == CN_CODE_PATCHED)
        patch->sum = cn_rec_patch_sum(bytes, patch->len);
    return left;
}

static bool is_short_jump(uint8_t opcode)
{
    return (opcode & 0xf0) == 0x70 || opcode == 0xeb || (opcode & 0xfc) == 0xe0;
}

static void add_short(struct cn_code_targets *targets, uint64_t end, uint8_t distance)
{
    cn_code_targets_add(targets, end + (uint64_t)(int64_t)(int8_t)distance);
}

/* Every byte may be an opcode, except in what fills gaps. */
static void add_any(struct cn_code_targets *targets, const uint8_t *bytes, uint64_t start,
                    uint64_t end)
{
    for (uint64_t i = 0; i + 1 < end - start; i++) {
        if (is_short_jump(bytes[i]))
            add_short(targets, start + i + 2, bytes[i + 1]);
    }
}

void cn_short_jumps_add(struct cn_code_targets *targets, const struct cn_code *code,
                        uint64_t start, uint64_t known_end, uint64_t end)
{
    const uint8_t *bytes = cn_code_bytes(code, start, end - start), *at = bytes;
    size_t rest = (size_t)(known_end - start);
    uint64_t address = start;
    csh handle = disassembler();
    cs_insn *insn = handle && bytes ? cn_capstone()->malloc(handle) : NULL;

    if (!bytes)
        return;
    while (insn && cn_capstone()->disasm_iter(handle, &at, &rest, &address, insn)) {
        if (insn->size >= 2 && is_in_group(insn, CS_GRP_JUMP) &&
            is_short_jump(insn->bytes[insn->size - 2]))
            add_short(targets, insn->address + insn->size, insn->bytes[insn->size - 1]);
    }
    if (insn)
        cn_capstone()->free(insn, 1);
    add_any(targets, bytes + (address - start), address, end);
}

static bool is_beginning(const struct cn_prologue *prologue, uint64_t target)
{
    return target >= prologue->entry && target <= prologue->patch.at;
}

/* Long jumps are looked for at any byte. */
static bool has_long_loop(const struct cn_prologue *prologue, const uint8_t *bytes)
{
    uint64_t len = prologue->end - prologue->entry;

    for (uint64_t i = 1; i + 4 <= len; i++) {
        bool is_near = i >= 2 && bytes[i - 2] == 0x0f && (bytes[i - 1] & 0xf0) == 0x80;

        if ((is_near || bytes[i - 1] == 0xe9) &&
            is_beginning(prologue, prologue->entry + i + 4 +
                                       (uint64_t)(int64_t)(int32_t)cn_u32_get(bytes + i)))
            return true;
    }
    return false;
}

bool cn_prologue_has_loop(const struct cn_prologue *prologue, const struct cn_code *code)
{
    uint64_t len = prologue->end - prologue->entry, address = prologue->entry;
    const uint8_t *bytes = cn_code_bytes(code, prologue->entry, len), *at = bytes;
    size_t rest = len < SHORT_REACH ? (size_t)len : SHORT_REACH;
    csh handle = disassembler();
    cs_insn *insn = handle && bytes ? cn_capstone()->malloc(handle) : NULL;
    bool has_loop = !insn || has_long_loop(prologue, bytes);

    while (!has_loop && cn_capstone()->disasm_iter(handle, &at, &rest, &address, insn)) {
        const cs_x86 *x86 = &insn->detail->x86;

        has_loop = is_in_group(insn, CS_GRP_JUMP) && x86->op_count == 1 &&
                   x86->operands[0].type == X86_OP_IMM &&
                   is_beginning(prologue, (uint64_t)x86->operands[0].imm);
    }
    if (insn)
        cn_capstone()->free(insn, 1);
    /* The last instruction may be cut off. */
    return has_loop || (rest >= 15 && len > 15);
}

/* add of 64 bits to this register, shortly before. */
static bool has_sum(const uint8_t *bytes, uint64_t at, unsigned reg)
{
    for (uint64_t i = at > WINDOW ? at - WINDOW : 0; i + 2 < at; i++) {
        uint8_t rex = bytes[i], opcode = bytes[i + 1], operands = bytes[i + 2];
        unsigned to = opcode == 0x01 ? (operands & 7u) | (rex & 1u) << 3
                                     : (operands >> 3 & 7u) | (rex >> 2 & 1u) << 3;

        if ((rex & 0xf8) == 0x48 && (opcode & 0xfd) == 0x01 && to == reg &&
            (opcode == 0x03 || operands >= 0xc0))
            return true;
    }
    return false;
}

/* True if the function loads an address in its own code, from which it may compute others. */
static bool has_label(const struct cn_prologue *prologue, const uint8_t *bytes)
{
    size_t rest = (size_t)(prologue->end - prologue->entry);
    uint64_t address = prologue->entry;
    csh handle = disassembler();
    cs_insn *insn = handle ? cn_capstone()->malloc(handle) : NULL;
    bool has_label = !insn;

    while (!has_label &&
           cn_capstone()->disasm_iter(handle, &bytes, &rest, &address, insn)) {
        const cs_x86 *x86 = &insn->detail->x86;

        if (insn->id != X86_INS_LEA || x86->operands[1].mem.base != X86_REG_RIP)
            continue;
        uint64_t target = address + (uint64_t)x86->operands[1].mem.disp;
        has_label = target > prologue->entry && target < prologue->end;
    }
    if (insn)
        cn_capstone()->free(insn, 1);
    return has_label || rest > 0;
}

enum cn_code_jumps cn_prologue_jumps(const struct cn_prologue *prologue,
                                     const struct cn_code *code)
{
    uint64_t len = prologue->end - prologue->entry;
    const uint8_t *bytes = cn_code_bytes(code, prologue->entry, len);
    bool has_jump = false, has_computed = false;

    for (uint64_t i = 0; bytes && i + 1 < len; i++) {
        /* jmp *reg; jmp *off(base, index, scale) */
        bool by_register = bytes[i] == 0xff && (bytes[i + 1] & 0xf8) == 0xe0;
        unsigned reg =
            (bytes[i + 1] & 7u) | (i > 0 && (bytes[i - 1] & 0xf1) == 0x41 ? 8u : 0u);
        bool by_table =
            bytes[i] == 0xff && (bytes[i + 1] & 0x3f) == 0x24 && bytes[i + 1] != 0xe4;

        has_jump |= by_register;
        has_computed |= by_table || (by_register && has_sum(bytes, i, reg));
    }
    if (!bytes || (has_jump && has_label(prologue, bytes)))
        return CN_CODE_OTHER_JUMPS;
    return has_computed ? CN_CODE_TABLE_JUMPS : CN_CODE_NO_JUMPS;
}

#else

bool cn_prologue_has_loop(const struct cn_prologue *prologue, const struct cn_code *code)
{
    (void)prologue;
    (void)code;
    return true;
}

enum cn_code_jumps cn_prologue_jumps(const struct cn_prologue *prologue,
                                     const struct cn_code *code)
{
    (void)prologue;
    (void)code;
    return CN_CODE_OTHER_JUMPS;
}

bool cn_prologue_is_known(unsigned machine)
{
    return machine == EM_AARCH64;
}

enum cn_code_left cn_prologue_x86_64(struct cn_prologue *prologue,
                                     const struct cn_code *code)
{
    (void)prologue;
    (void)code;
    return CN_CODE_FIXED;
}

void cn_short_jumps_add(struct cn_code_targets *targets, const struct cn_code *code,
                        uint64_t start, uint64_t known_end, uint64_t end)
{
    (void)targets;
    (void)code;
    (void)start;
    (void)known_end;
    (void)end;
}

#endif
