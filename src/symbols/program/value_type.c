#include "symbols/program/debug_info.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/sort.h"
#include "base/text.h"

enum {
    PARTS_MAX = 64,        /* members of a struct, with those of its members */
    ELEMENTS_MAX = 16,     /* of an array in a struct */
    ENUM_TEXT_MAX = 65536, /* bytes of the names of an enum's members */
};

/* A member of a struct, also of a nested one. */
struct type_part {
    Dwarf_Die type;
    uint64_t offset;
};

struct type_parts {
    struct type_part list[PARTS_MAX];
    size_t count;
    bool is_complete, has_vector;
    bool is_cut;         /* there are more than PARTS_MAX */
    bool has_own_copies; /* some part has a copy constructor or destructor of its own */
};

static bool type_of(Dwarf_Die *die, Dwarf_Die *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;

    return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, &type) && dwarf_peel_type(&type, out) == 0;
}

static uint64_t number_in(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    return dwarf_attr_integrate(die, name, &attribute) &&
                   dwarf_formudata(&attribute, &value) == 0
               ? value
               : otherwise;
}

static bool has(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(die, name, &attribute) != NULL;
}

static uint64_t size_of(Dwarf_Die *die)
{
    Dwarf_Word size;

    return dwarf_aggregate_size(die, &size) == 0 ? size : 0;
}

static void add_part(struct type_parts *parts, const Dwarf_Die *type, uint64_t offset)
{
    if (parts->count == PARTS_MAX) {
        parts->is_complete = false;
        parts->is_cut = true;
        return;
    }
    parts->list[parts->count++] = (struct type_part){*type, offset};
}

/* A constructor whose second parameter, after `this`, refers to the class itself. */
static bool is_copying(Dwarf_Die *method, Dwarf_Die *type)
{
    Dwarf_Die child, reference, target;
    size_t count = 0;

    for (bool ok = dwarf_child(method, &child) == 0; ok;
         ok = dwarf_siblingof(&child, &child) == 0) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter || ++count < 2)
            continue;
        return type_of(&child, &reference) &&
               (dwarf_tag(&reference) == DW_TAG_reference_type ||
                dwarf_tag(&reference) == DW_TAG_rvalue_reference_type) &&
               type_of(&reference, &target) &&
               dwarf_dieoffset(&target) == dwarf_dieoffset(type);
    }
    return false;
}

/* An object with a copy constructor or destructor of its own is passed by reference.
 * Functions that the compiler generates follow from the members. */
static bool has_own_copy(Dwarf_Die *method, Dwarf_Die *type)
{
    const char *name = dwarf_diename(method), *class = dwarf_diename(type);
    size_t len = class ? strcspn(class, "<") : 0;

    if (!name || has(method, DW_AT_artificial) ||
        number_in(method, DW_AT_defaulted, 0) == DW_DEFAULTED_in_class)
        return false;
    if (has(method, DW_AT_virtuality) || name[0] == '~')
        return true;
    return len > 0 && strncmp(name, class, len) == 0 &&
           (name[len] == '\0' || name[len] == '<') && is_copying(method, type);
}

static void add_members(struct type_parts *parts, Dwarf_Die *type, uint64_t offset)
{
    Dwarf_Die child, member;
    uint64_t at, size;

    if (dwarf_child(type, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);

        if (tag == DW_TAG_subprogram && has_own_copy(&child, type))
            parts->has_own_copies = true;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            has(&child, DW_AT_external) || has(&child, DW_AT_declaration))
            continue;
        parts->has_own_copies |= has(&child, DW_AT_virtuality);
        if (has(&child, DW_AT_virtuality) || !type_of(&child, &member)) {
            parts->is_complete = false;
            continue;
        }
        at = number_in(&child, DW_AT_data_member_location, 0);
        if (has(&child, DW_AT_data_bit_offset)) {
            /* A bit-field counts as the whole integer that contains it. */
            size = size_of(&member) > 0 ? size_of(&member) : 1;
            at = number_in(&child, DW_AT_data_bit_offset, 0) / 8 / size * size;
        }
        add_part(parts, &member, offset + at);
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void add_elements(struct type_parts *parts, Dwarf_Die *type, uint64_t offset)
{
    Dwarf_Die element;
    uint64_t len, count;

    parts->has_vector |= has(type, DW_AT_GNU_vector);
    if (has(type, DW_AT_GNU_vector) || !type_of(type, &element)) {
        parts->is_complete = false;
        return;
    }
    len = size_of(&element);
    count = len > 0 ? size_of(type) / len : 0;
    if (count > ELEMENTS_MAX) {
        parts->is_complete = false;
        count = 1; /* enough to find out how it is copied */
    }
    for (uint64_t i = 0; i < count; i++)
        add_part(parts, &element, offset + i * len);
}

static void add_leaf(struct cn_value_type *out, struct type_parts *parts, Dwarf_Die *type,
                     uint64_t offset)
{
    uint64_t size = size_of(type), encoding = number_in(type, DW_AT_encoding, 0);
    uint32_t half = encoding == DW_ATE_complex_float ? 2 : 1;

    if (out->leaf_count + half > CN_VALUE_LEAVES_MAX || size < half || size > 32 ||
        offset > UINT16_MAX) {
        parts->is_complete = false;
        return;
    }
    for (uint32_t i = 0; i < half; i++)
        out->leaves[out->leaf_count++] = (struct cn_value_leaf){
            .offset = (uint32_t)(offset + i * size / half),
            .size = (uint32_t)(size / half),
            .is_float = dwarf_tag(type) == DW_TAG_base_type &&
                        (encoding == DW_ATE_float || encoding == DW_ATE_complex_float),
        };
}

static void read_leaves(Dwarf_Die *type, struct cn_value_type *out)
{
    struct type_parts parts = {.is_complete = true};

    add_part(&parts, type, 0);
    for (size_t i = 0; i < parts.count; i++) {
        Dwarf_Die *part = &parts.list[i].type;
        uint64_t offset = parts.list[i].offset;

        switch (dwarf_tag(part)) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            add_members(&parts, part, offset);
            break;
        case DW_TAG_array_type:
            add_elements(&parts, part, offset);
            break;
        default:
            add_leaf(out, &parts, part, offset);
        }
    }
    CN_SORT(out->leaves, out->leaf_count, CN_UP(struct cn_value_leaf, offset));
    out->has_leaves = parts.is_complete;
    out->has_vector = parts.has_vector;
    out->is_reference = parts.has_own_copies;
    if (parts.is_cut && !parts.has_own_copies)
        out->kind = CN_VALUE_OTHER;
}

/* The alignment of the largest leaf, or that of DW_AT_alignment if it is larger. */
static void find_alignment(Dwarf_Die *type, struct cn_value_type *out)
{
    uint64_t declared = number_in(type, DW_AT_alignment, 0);

    out->align = out->size > 0 && out->size < 16 ? (uint32_t)out->size : 16;
    if (out->kind == CN_VALUE_STRUCT) {
        out->align = 1;
        for (size_t i = 0; i < out->leaf_count; i++)
            if (out->leaves[i].size > out->align)
                out->align = out->leaves[i].size;
    }
    if (declared > out->align && declared <= 4096)
        out->align = (uint32_t)declared;
}

/* The name up to characters that a value specification cannot contain. */
static const char *plain_name(Dwarf_Die *type, struct cn_arena *arena)
{
    const char *name = dwarf_diename(type);
    size_t len = name ? strcspn(name, "<,;@%:/ \n") : 0;

    return len > 0 ? cn_arena_copy(arena, name, len) : "";
}

/* Compilers write negative values with a sign of their own; forms of a fixed size are not
 * negative. */
static bool member_value(Dwarf_Attribute *attribute, int64_t *out)
{
    Dwarf_Sword value;
    Dwarf_Word word;

    if (dwarf_whatform(attribute) == DW_FORM_sdata ||
        dwarf_whatform(attribute) == DW_FORM_implicit_const) {
        if (dwarf_formsdata(attribute, &value) != 0)
            return false;
        *out = value;
        return true;
    }
    if (dwarf_formudata(attribute, &word) != 0)
        return false;
    *out = (int64_t)word;
    return true;
}

static const char *members_of(Dwarf_Die *type, struct cn_arena *arena)
{
    struct cn_text text = {0};
    int64_t next = 0;
    Dwarf_Die child;

    for (bool ok = dwarf_child(type, &child) == 0; ok;
         ok = dwarf_siblingof(&child, &child) == 0) {
        Dwarf_Attribute attribute;
        int64_t value;
        const char *name = dwarf_diename(&child);

        if (dwarf_tag(&child) != DW_TAG_enumerator || !name ||
            !dwarf_attr(&child, DW_AT_const_value, &attribute) ||
            !member_value(&attribute, &value) || text.len > ENUM_TEXT_MAX)
            continue;
        cn_text_printf(&text, "%s%s", text.len > 0 ? "," : "", name);
        if (value != next)
            cn_text_printf(&text, "=%" PRId64, value);
        next = (int64_t)((uint64_t)value + 1);
    }
    const char *members = cn_arena_strdup(arena, cn_text_str(&text));
    cn_text_done(&text);
    return members;
}

static void read_base(Dwarf_Die *type, struct cn_value_type *out)
{
    const char *name = dwarf_diename(type);

    switch (number_in(type, DW_AT_encoding, 0)) {
    case DW_ATE_float:
        out->kind = CN_VALUE_FLOAT;
        out->name = name && strcmp(name, "long double") == 0 ? "long double" : "";
        break;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
        out->kind = name && strcmp(name, "char") == 0 ? CN_VALUE_CHAR
                    : number_in(type, DW_AT_encoding, 0) == DW_ATE_signed_char
                        ? CN_VALUE_SIGNED
                        : CN_VALUE_UNSIGNED;
        break;
    case DW_ATE_signed:
        out->kind = CN_VALUE_SIGNED;
        break;
    case DW_ATE_unsigned:
    case DW_ATE_boolean:
    case DW_ATE_UTF:
        out->kind = CN_VALUE_UNSIGNED;
        break;
    case DW_ATE_complex_float:
        out->kind = CN_VALUE_STRUCT;
        out->name = "complex";
        read_leaves(type, out);
        return;
    default:
        out->kind = CN_VALUE_OTHER;
    }
    if (out->kind != CN_VALUE_FLOAT && out->size > sizeof(uint64_t)) {
        out->name = "__int128";
        out->kind = out->size == 16 ? CN_VALUE_STRUCT : CN_VALUE_OTHER;
        read_leaves(type, out);
    }
}

static bool is_std_string(Dwarf_Die *type)
{
    const char *name = dwarf_diename(type);

    return name &&
           (dwarf_tag(type) == DW_TAG_class_type ||
            dwarf_tag(type) == DW_TAG_structure_type) &&
           strncmp(name, "basic_string<char,", 18) == 0;
}

static void read_pointer(Dwarf_Die *type, struct cn_value_type *out)
{
    Dwarf_Die target;

    out->kind = CN_VALUE_POINTER;
    out->size = sizeof(uint64_t);
    if (!type_of(type, &target))
        return;
    const char *name = dwarf_diename(&target);
    if (is_std_string(&target))
        out->kind = CN_VALUE_STD_STRING;
    else if (dwarf_tag(type) == DW_TAG_pointer_type && name &&
             dwarf_tag(&target) == DW_TAG_base_type && strcmp(name, "char") == 0)
        out->kind = CN_VALUE_STRING;
}

static void read_struct(Dwarf_Die *type, struct cn_arena *arena,
                        struct cn_value_type *out)
{
    Dwarf_Die child;

    out->kind = CN_VALUE_STRUCT;
    out->name = plain_name(type, arena);
    out->is_empty = dwarf_child(type, &child) != 0;
    read_leaves(type, out);
    if (has(type, DW_AT_calling_convention))
        out->is_reference =
            number_in(type, DW_AT_calling_convention, 0) == DW_CC_pass_by_reference;
    if (out->is_reference && is_std_string(type))
        out->kind = CN_VALUE_STD_STRING;
    if (has(type, DW_AT_declaration))
        out->kind = CN_VALUE_OTHER;
}

void cn_value_type_read(Dwarf_Die *die, struct cn_arena *arena, struct cn_value_type *out)
{
    Dwarf_Die type;

    *out = (struct cn_value_type){.name = "", .members = ""};
    if (!has(die, DW_AT_type))
        return;
    out->kind = CN_VALUE_OTHER;
    if (!type_of(die, &type))
        return;
    out->size = size_of(&type);
    switch (dwarf_tag(&type)) {
    case DW_TAG_base_type:
        read_base(&type, out);
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        read_pointer(&type, out);
        break;
    case DW_TAG_unspecified_type: /* nullptr_t */
        out->kind = CN_VALUE_POINTER;
        out->size = sizeof(uint64_t);
        break;
    case DW_TAG_enumeration_type:
        out->name = plain_name(&type, arena);
        out->members = members_of(&type, arena);
        out->kind = out->name[0] == '\0' || out->members[0] == '\0' ? CN_VALUE_SIGNED
                                                                    : CN_VALUE_ENUM;
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        read_struct(&type, arena, out);
        break;
    default:
        break; /* vectors, pointers to members */
    }
    find_alignment(&type, out);
}
