#include "symbols/program/assembly.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "symbols/program/instruction.h"
#include "symbols/program/resolver.h"

#ifdef CN_HAS_CAPSTONE
#include "symbols/program/capstone.h"
#endif

enum { INLINED_MAX = 32, ARM_LEN = 4 };

uint32_t cn_assembly_find(const struct cn_assembly *assembly, uint64_t offset)
{
    size_t at = assembly->count == 0
                    ? 0
                    : cn_search_u64(&assembly->list[0].offset, assembly->count,
                                    sizeof(*assembly->list), offset);

    if (at == 0 || offset - assembly->list[at - 1].offset >= assembly->list[at - 1].len)
        return CN_NO_JUMP;
    return (uint32_t)(at - 1);
}

void cn_assembly_done(struct cn_assembly *assembly)
{
    free(assembly->list);
    cn_arena_done(&assembly->arena);
    *assembly = (struct cn_assembly){0};
}

#ifdef CN_HAS_CAPSTONE
static bool open_printer(bool is_x86, csh *out)
{
    const struct cn_capstone *capstone = cn_capstone();

    if (!capstone || capstone->open(is_x86 ? CS_ARCH_X86 : CS_ARCH_ARM64,
                                    is_x86 ? CS_MODE_64 : CS_MODE_ARM, out) != CS_ERR_OK)
        return false;
    if (is_x86)
        (void)capstone->option(*out, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    return true;
}

static struct cn_assembly_line *add_line(struct cn_assembly *assembly, uint32_t at)
{
    CN_GROW(assembly->list, assembly->count, assembly->capacity);
    assembly->list[assembly->count] =
        (struct cn_assembly_line){.offset = assembly->offset + at, .jump = CN_NO_JUMP};
    return &assembly->list[assembly->count++];
}

/* Print all instructions. Bytes that are no instruction are skipped, as many as the processor would. */
static void print_all(struct cn_assembly *assembly, struct cn_bytes code, bool is_x86,
                      csh printer)
{
    const struct cn_capstone *capstone = cn_capstone();
    cs_insn *found = capstone->malloc(printer);

    for (uint32_t at = 0; at < code.len;) {
        struct cn_assembly_line *line = add_line(assembly, at);
        const uint8_t *bytes = code.ptr + at;
        size_t rest = code.len - at;
        uint64_t address = line->offset;

        if (capstone->disasm_iter(printer, &bytes, &rest, &address, found)) {
            line->len = found->size;
            line->text = cn_arena_printf(&assembly->arena, "%s%s%s", found->mnemonic,
                                         found->op_str[0] ? " " : "", found->op_str);
        } else {
            line->len = is_x86                    ? 1
                        : code.len - at < ARM_LEN ? (uint32_t)(code.len - at)
                                                  : ARM_LEN;
            line->text = "(bad)";
        }
        at += line->len;
    }
    capstone->free(found, 1);
}

static void find_jumps(struct cn_assembly *assembly, struct cn_bytes code, bool is_x86)
{
    struct cn_instructions reader;
    struct cn_instruction found;

    if (!cn_instructions_open(&reader, is_x86))
        return;
    for (size_t i = 0; i < assembly->count; i++) {
        struct cn_assembly_line *line = &assembly->list[i];

        if (!cn_instruction_decode(&reader, code,
                                   (uint32_t)(line->offset - assembly->offset), &found) ||
            !(found.has_target || found.is_call))
            continue;
        line->target = assembly->offset + found.target;
        if (found.has_target && found.target < code.len)
            line->jump = cn_assembly_find(assembly, line->target);
    }
    cn_instructions_close(&reader);
}

bool cn_assembly_decode(struct cn_assembly *assembly, struct cn_bytes code, bool is_x86,
                        struct cn_error *err)
{
    csh printer;

    if (!open_printer(is_x86, &printer))
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "libcapstone, which prints instructions, is not installed");
    print_all(assembly, code, is_x86, printer);
    (void)cn_capstone()->close(&printer);
    find_jumps(assembly, code, is_x86);
    return true;
}
#else
bool cn_assembly_decode(struct cn_assembly *assembly, struct cn_bytes code, bool is_x86,
                        struct cn_error *err)
{
    (void)assembly;
    (void)code;
    (void)is_x86;
    return cn_fail(err, CN_ERR_NOT_FOUND,
                   "this cairn was built without libcapstone, which prints instructions");
}
#endif

/* Source lines, inlined functions and the names of called functions. */
static void add_names(struct cn_assembly *assembly, struct cn_resolver *resolver,
                      const char *path, const char *build_id)
{
    struct cn_source_location locations[INLINED_MAX];
    struct cn_symbol callee;

    for (size_t i = 0; i < assembly->count; i++) {
        struct cn_assembly_line *line = &assembly->list[i];
        size_t count = cn_resolver_instruction(resolver, path, build_id, line->offset,
                                               locations, INLINED_MAX);

        if (count > 0) {
            line->inlined = locations[count - 1].function;
            line->file = locations[count - 1].file;
            line->line = locations[count - 1].line;
        }
        if (line->target > 0 && line->jump == CN_NO_JUMP &&
            cn_resolver_symbol(resolver, path, build_id, line->target, &callee))
            line->callee = callee.name;
    }
}

bool cn_assembly_open(struct cn_assembly *assembly, struct cn_resolver *resolver,
                      const char *path, const char *build_id, uint64_t offset,
                      struct cn_error *err)
{
    struct cn_resolver_code code;

    *assembly = (struct cn_assembly){0};
    if (!cn_resolver_code(resolver, path, build_id, offset, &code, err))
        return false;
    if (code.bytes.len > CN_ASSEMBLY_CODE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%s has %zu bytes of code; the limit is %d",
                       code.symbol.name, code.bytes.len, CN_ASSEMBLY_CODE_MAX);
    assembly->function = code.symbol.name;
    assembly->offset = code.symbol.offset;
    assembly->size = code.bytes.len;
    if (!cn_assembly_decode(assembly, code.bytes, code.is_x86, err))
        return false;
    add_names(assembly, resolver, path, build_id);
    return true;
}
