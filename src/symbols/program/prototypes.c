#include "symbols/program/prototypes.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/search.h"
#include "base/sort.h"
#include "symbols/program/debug_info.h"

enum { ENTRY_MAX = 64 };

struct prototypes_function {
    Dwarf_Addr low;
    Dwarf_Die die;
};

struct cn_prototypes {
    struct cn_debug_info info;
    struct cn_build_files files;
    Dwarf_Addr begin; /* address of the file's first page in its debug information */
    struct cn_arena arena;
    struct prototypes_function *list; /* by address */
    size_t count, capacity;
};

static int add_function(Dwarf_Die *die, void *arg)
{
    struct cn_prototypes *prototypes = arg;
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    /* A function may have several ranges, one of which is its entry. */
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        CN_PUSH(prototypes->list, prototypes->count, prototypes->capacity,
                (struct prototypes_function){low, *die});
    }
    return DWARF_CB_OK;
}

struct cn_prototypes *cn_prototypes_open(const char *path)
{
    struct cn_prototypes *prototypes = cn_alloc(1, sizeof(*prototypes));
    Dwarf_Die *unit = NULL, whole;
    Dwarf_Addr bias;

    if (!cn_debug_info_open(&prototypes->info, path, "", &prototypes->files) ||
        !prototypes->info.has_dwarf) {
        cn_prototypes_close(prototypes);
        return NULL;
    }
    prototypes->begin = prototypes->info.begin - prototypes->info.bias;
    while ((unit = dwfl_module_nextcu(prototypes->info.module, unit, &bias))) {
        (void)cn_unit_whole(prototypes->info.module, unit, &whole);
        (void)dwarf_getfuncs(&whole, add_function, prototypes, 0);
    }
    CN_SORT(prototypes->list, prototypes->count, CN_UP(struct prototypes_function, low));
    return prototypes;
}

void cn_prototypes_close(struct cn_prototypes *prototypes)
{
    if (!prototypes)
        return;
    cn_debug_info_close(&prototypes->info);
    cn_build_files_done(&prototypes->files);
    cn_arena_done(&prototypes->arena);
    free(prototypes->list);
    free(prototypes);
}

static bool is_below(const void *list, uint64_t index, uint64_t address)
{
    return ((const struct prototypes_function *)list)[index].low < address;
}

/* A patchable entry may come before the first address of a function in debug information. */
static struct prototypes_function *find(struct cn_prototypes *prototypes, Dwarf_Addr low,
                                        uint64_t size)
{
    uint64_t most = size < ENTRY_MAX ? size : ENTRY_MAX;
    size_t at = cn_search(0, prototypes->count, is_below, prototypes->list, low);

    return at < prototypes->count && (prototypes->list[at].low == low ||
                                      prototypes->list[at].low - low < most)
               ? &prototypes->list[at]
               : NULL;
}

/* True for languages with the calling convention of C. */
static bool has_usual_calls(Dwarf_Die *die)
{
    Dwarf_Die unit;
    int language = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

    switch (language) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
        return true;
    default:
        return language > DW_LANG_lo_user || language == 0x2b /* C++17 */ ||
               language == 0x2c /* C17 */ || language == 0x2d /* C++20 */ ||
               language == 0x3e /* C23 */ || language == 0x3a /* C++23 */;
    }
}

/* A register, or memory at a register and an offset. */
static struct cn_value_storage plain_storage(const Dwarf_Op *op)
{
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        return (struct cn_value_storage){CN_STORAGE_REGISTER, op->atom - DW_OP_reg0, 0};
    if (op->atom == DW_OP_regx && op->number <= UINT8_MAX)
        return (struct cn_value_storage){CN_STORAGE_REGISTER, (uint32_t)op->number, 0};
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return (struct cn_value_storage){CN_STORAGE_MEMORY, op->atom - DW_OP_breg0,
                                         (int64_t)op->number};
    if (op->atom == DW_OP_bregx && op->number <= UINT8_MAX)
        return (struct cn_value_storage){CN_STORAGE_MEMORY, (uint32_t)op->number,
                                         (int64_t)op->number2};
    return (struct cn_value_storage){0};
}

/* The canonical frame address. */
static struct cn_value_storage call_frame(struct cn_prototypes *prototypes, Dwarf_Addr at)
{
    const struct cn_debug_info *info = &prototypes->info;
    struct cn_value_storage storage = {0};
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops;
    size_t count;

    for (int i = 0; i < 2 && !frame; i++) {
        Dwarf_Addr bias = 0;
        Dwarf_CFI *cfi = i == 0 ? dwfl_module_eh_cfi(info->module, &bias)
                                : dwfl_module_dwarf_cfi(info->module, &bias);

        if (cfi && dwarf_cfi_addrframe(cfi, at + info->bias - bias, &frame) != 0)
            frame = NULL;
    }
    if (frame && dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1)
        storage = plain_storage(&ops[0]);
    free(frame);
    return storage;
}

static struct cn_value_storage frame_base(struct cn_prototypes *prototypes,
                                          Dwarf_Die *function, Dwarf_Addr at)
{
    Dwarf_Attribute attribute;
    struct cn_value_storage storage = {0};
    Dwarf_Op *ops;
    size_t count;

    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, at, &ops, &count, 1) != 1 || count != 1)
        return storage;
    if (ops[0].atom == DW_OP_call_frame_cfa)
        return call_frame(prototypes, at);
    storage = plain_storage(&ops[0]);
    if (storage.kind == CN_STORAGE_REGISTER)
        storage.kind = CN_STORAGE_MEMORY;
    return storage;
}

static struct cn_value_storage storage_of(struct cn_prototypes *prototypes,
                                          Dwarf_Die *function, Dwarf_Die *parameter,
                                          Dwarf_Addr at)
{
    Dwarf_Attribute attribute;
    struct cn_value_storage storage = {0};
    Dwarf_Op *ops;
    size_t count;

    if (!dwarf_attr_integrate(parameter, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, at, &ops, &count, 1) != 1 || count == 0 ||
        count > 2 || (count == 2 && ops[1].atom != DW_OP_deref))
        return storage;
    if (ops[0].atom == DW_OP_fbreg) {
        storage = frame_base(prototypes, function, at);
        storage.offset = (int64_t)((Dwarf_Word)storage.offset + ops[0].number);
    } else {
        storage = plain_storage(&ops[0]);
    }
    if (count == 2)
        storage.kind =
            storage.kind == CN_STORAGE_MEMORY ? CN_STORAGE_POINTER : CN_STORAGE_UNKNOWN;
    return storage;
}

static void read_parameters(struct cn_prototypes *prototypes, Dwarf_Die *function,
                            Dwarf_Addr at, struct cn_prototype *out)
{
    Dwarf_Die child;

    for (bool ok = dwarf_child(function, &child) == 0; ok;
         ok = dwarf_siblingof(&child, &child) == 0) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter)
            continue;
        if (out->count++ >= CN_PARAMETERS_MAX)
            continue;
        struct cn_parameter *parameter = &out->parameters[out->count - 1];
        cn_value_type_read(&child, &prototypes->arena, &parameter->type);
        parameter->storage = storage_of(prototypes, function, &child, at);
    }
}

bool cn_prototypes_find(struct cn_prototypes *prototypes, uint64_t offset, uint64_t size,
                        uint64_t at, struct cn_prototype *out)
{
    struct prototypes_function *function =
        find(prototypes, prototypes->begin + offset, size);

    if (!function)
        return false;
    *out = (struct cn_prototype){.has_usual_calls = has_usual_calls(&function->die)};
    out->file = cn_unit_declared_in(&function->die);
    if (dwarf_decl_line(&function->die, &out->line) != 0)
        out->line = 0;
    cn_value_type_read(&function->die, &prototypes->arena, &out->result);
    read_parameters(prototypes, &function->die, prototypes->begin + at, out);
    return true;
}
