#include "launcher/rules/calling.h"

#include <assert.h>
#include <string.h>

enum { WORD = 8, VECTORS = 8, IN_REGISTERS_MAX = 16, X87_LEN = 10 };

struct registers {
    const uint8_t *integers; /* of arguments, by DWARF number */
    uint32_t integer_count;
    const uint8_t *results;
};

static const uint8_t x86_arguments[] = {5, 4, 1, 2, 8, 9}, x86_results[] = {0, 1};
static const uint8_t arm_arguments[] = {0, 1, 2, 3, 4, 5, 6, 7};

static const struct registers registers[] = {
    [CN_CALLING_X86_64] = {x86_arguments, sizeof(x86_arguments), x86_results},
    [CN_CALLING_AARCH64] = {arm_arguments, sizeof(arm_arguments), arm_arguments},
};

static uint16_t stored_len(uint64_t len)
{
    return len < UINT16_MAX ? (uint16_t)len : UINT16_MAX;
}

static void add_piece(struct cn_rec_value *out, enum cn_rec_source source, uint8_t reg,
                      uint64_t len, uint64_t offset)
{
    out->pieces[out->piece_count++] = (struct cn_rec_piece){
        .source = (uint8_t)source,
        .reg = reg,
        .len = stored_len(len),
        .offset = (int32_t)offset,
    };
}

/* How eight bytes of a struct are passed. */
enum word_class { CLASS_INTEGER, CLASS_VECTOR, CLASS_MEMORY };

static enum word_class class_of(const struct cn_value_type *type, uint64_t offset)
{
    enum word_class class = CLASS_VECTOR;

    for (size_t i = 0; i < type->leaf_count; i++) {
        const struct cn_value_leaf *leaf = &type->leaves[i];

        if (leaf->offset % leaf->size != 0 || (leaf->is_float && leaf->size > WORD))
            return CLASS_MEMORY;
        if (leaf->offset < offset + WORD && leaf->offset + leaf->size > offset &&
            !leaf->is_float)
            class = CLASS_INTEGER;
    }
    return class;
}

static bool is_parts(const struct cn_value_type *type)
{
    return type->kind == CN_VALUE_STRUCT && !type->is_reference;
}

static bool is_in_memory(const struct cn_value_type *type)
{
    return type->size > IN_REGISTERS_MAX || class_of(type, 0) == CLASS_MEMORY;
}

/* A homogeneous aggregate: one to four numbers of the same floating-point type. */
static bool is_homogeneous(const struct cn_value_type *type)
{
    if (!type->has_leaves || type->leaf_count == 0 || type->leaf_count > 4)
        return false;
    for (size_t i = 0; i < type->leaf_count; i++) {
        const struct cn_value_leaf *leaf = &type->leaves[i];

        if (!leaf->is_float || leaf->size != type->leaves[0].size ||
            leaf->offset != i * leaf->size)
            return false;
    }
    return type->size == type->leaf_count * type->leaves[0].size;
}

static void put_on_stack(struct cn_calling *calling, uint64_t size, uint64_t align,
                         enum cn_rec_source source, uint64_t len,
                         struct cn_rec_value *out)
{
    align = align > WORD ? align : WORD;
    calling->stack_len = (calling->stack_len + align - 1) / align * align;
    add_piece(out, source, 0, len, calling->stack_len);
    calling->stack_len += (size + WORD - 1) / WORD * WORD;
}

static bool put_integer(struct cn_calling *calling, uint64_t size,
                        struct cn_rec_value *out)
{
    const struct registers *regs = &registers[calling->machine];

    if (calling->integers < regs->integer_count)
        add_piece(out, CN_REC_FROM_REGISTER, regs->integers[calling->integers++], size,
                  0);
    else
        put_on_stack(calling, WORD, WORD, CN_REC_FROM_STACK, size, out);
    return true;
}

/* A pointer to a copy that the caller made. */
static bool put_reference(struct cn_calling *calling, const struct cn_value_type *type,
                          struct cn_rec_value *out)
{
    const struct registers *regs = &registers[calling->machine];

    if (type->kind == CN_VALUE_STD_STRING)
        return put_integer(calling, WORD, out);
    if (calling->integers < regs->integer_count)
        add_piece(out, CN_REC_FROM_POINTER, regs->integers[calling->integers++],
                  type->size, 0);
    else
        put_on_stack(calling, WORD, WORD, CN_REC_FROM_STACK_POINTER, type->size, out);
    return true;
}

static bool put_float(struct cn_calling *calling, const struct cn_value_type *type,
                      struct cn_rec_value *out)
{
    bool is_x86 = calling->machine == CN_CALLING_X86_64;

    if (is_x86 && type->size > WORD) {
        if (type->name[0] == '\0')
            return false; /* __float128, or a type with padding */
        put_on_stack(calling, IN_REGISTERS_MAX, IN_REGISTERS_MAX, CN_REC_FROM_STACK,
                     X87_LEN, out);
        return true;
    }
    if (calling->vectors < VECTORS)
        add_piece(out, CN_REC_FROM_VECTOR, (uint8_t)calling->vectors++, type->size, 0);
    else
        put_on_stack(calling, type->size, type->size, CN_REC_FROM_STACK, type->size, out);
    return true;
}

static bool put_struct_x86(struct cn_calling *calling, const struct cn_value_type *type,
                           struct cn_rec_value *out)
{
    uint32_t integers = 0, vectors = 0;

    if (type->has_vector || (type->size <= IN_REGISTERS_MAX && !type->has_leaves))
        return false;
    if (type->leaf_count == 0 && type->has_leaves)
        return true; /* empty: nothing is passed */
    for (uint64_t at = 0; at < type->size && at < IN_REGISTERS_MAX; at += WORD)
        *(class_of(type, at) == CLASS_INTEGER ? &integers : &vectors) += 1;
    if (is_in_memory(type) || calling->integers + integers > sizeof(x86_arguments) ||
        calling->vectors + vectors > VECTORS) {
        put_on_stack(calling, type->size, type->align, CN_REC_FROM_STACK, type->size,
                     out);
        return true;
    }
    for (uint64_t at = 0; at < type->size; at += WORD) {
        uint64_t len = type->size - at < WORD ? type->size - at : WORD;

        if (class_of(type, at) == CLASS_INTEGER)
            add_piece(out, CN_REC_FROM_REGISTER, x86_arguments[calling->integers++], len,
                      0);
        else
            add_piece(out, CN_REC_FROM_VECTOR, (uint8_t)calling->vectors++, len, 0);
    }
    return true;
}

static bool put_homogeneous(struct cn_calling *calling, const struct cn_value_type *type,
                            struct cn_rec_value *out)
{
    if (calling->vectors + type->leaf_count > VECTORS) {
        calling->vectors = VECTORS;
        put_on_stack(calling, type->size, type->align, CN_REC_FROM_STACK, type->size,
                     out);
        return true;
    }
    for (size_t i = 0; i < type->leaf_count; i++)
        add_piece(out, CN_REC_FROM_VECTOR, (uint8_t)calling->vectors++,
                  type->leaves[i].size, 0);
    return true;
}

static bool put_struct_arm(struct cn_calling *calling, const struct cn_value_type *type,
                           struct cn_rec_value *out)
{
    uint32_t words = (uint32_t)((type->size + WORD - 1) / WORD);

    if (type->size == 0)
        return true;
    if (type->has_vector || (type->size <= 64 && !type->has_leaves))
        return false;
    if (is_homogeneous(type))
        return put_homogeneous(calling, type, out);
    if (type->size > IN_REGISTERS_MAX)
        return put_reference(calling, type, out);
    if (type->align == IN_REGISTERS_MAX)
        calling->integers += calling->integers % 2;
    if (calling->integers + words > sizeof(arm_arguments)) {
        calling->integers = sizeof(arm_arguments);
        put_on_stack(calling, type->size, type->align, CN_REC_FROM_STACK, type->size,
                     out);
        return true;
    }
    for (uint64_t at = 0; at < type->size; at += WORD)
        add_piece(out, CN_REC_FROM_REGISTER, (uint8_t)calling->integers++,
                  type->size - at < WORD ? type->size - at : WORD, 0);
    return true;
}

static bool put(struct cn_calling *calling, const struct cn_value_type *type,
                struct cn_rec_value *out)
{
    switch (type->kind) {
    case CN_VALUE_NONE:
    case CN_VALUE_OTHER:
        return false;
    case CN_VALUE_FLOAT:
        return put_float(calling, type, out);
    case CN_VALUE_STRUCT:
        if (type->is_reference)
            return put_reference(calling, type, out);
        return calling->machine == CN_CALLING_X86_64 ? put_struct_x86(calling, type, out)
                                                     : put_struct_arm(calling, type, out);
    case CN_VALUE_SIGNED:
    case CN_VALUE_UNSIGNED:
    case CN_VALUE_CHAR:
    case CN_VALUE_POINTER:
    case CN_VALUE_STRING:
    case CN_VALUE_STD_STRING:
    case CN_VALUE_ENUM:
    default:
        if (type->is_reference)
            return put_reference(calling, type, out);
        return type->size > 0 && type->size <= WORD &&
               put_integer(calling, type->size, out);
    }
}

void cn_calling_begin(struct cn_calling *calling, enum cn_calling_machine machine,
                      const struct cn_value_type *result)
{
    bool is_memory = result->is_reference || (is_parts(result) && is_in_memory(result));

    *calling = (struct cn_calling){.machine = machine};
    calling->is_lost =
        result->kind == CN_VALUE_OTHER || (is_parts(result) && result->has_vector);
    /* The caller passes the address of a result in memory: as the first argument, or in
     * x8. */
    if (machine == CN_CALLING_X86_64 && is_memory)
        calling->integers = 1;
}

bool cn_calling_next(struct cn_calling *calling, const struct cn_value_type *type,
                     struct cn_rec_value *out)
{
    out->piece_count = 0;
    calling->is_lost = calling->is_lost || !put(calling, type, out);
    return !calling->is_lost;
}

/* Results use the same classes with other registers, at most two. */
static void rename_registers(struct cn_rec_value *out)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < out->piece_count; i++) {
        if (out->pieces[i].source != CN_REC_FROM_REGISTER)
            continue;
        assert(next < sizeof(x86_results));
        out->pieces[i].reg = x86_results[next++];
    }
}

bool cn_calling_result(enum cn_calling_machine machine, const struct cn_value_type *type,
                       struct cn_rec_value *out)
{
    struct cn_calling calling = {.machine = machine};
    bool is_x86 = machine == CN_CALLING_X86_64;
    bool is_memory = type->is_reference || (is_parts(type) && is_in_memory(type));

    out->piece_count = 0;
    if (is_x86 && type->kind == CN_VALUE_FLOAT && type->size > WORD) {
        add_piece(out, CN_REC_FROM_X87, 0, X87_LEN, 0);
        return type->name[0] != '\0';
    }
    if (is_x86 && is_memory && !type->has_vector) {
        /* rax contains the address of the result. */
        add_piece(out,
                  type->kind == CN_VALUE_STD_STRING ? CN_REC_FROM_REGISTER
                                                    : CN_REC_FROM_POINTER,
                  0, type->kind == CN_VALUE_STD_STRING ? WORD : type->size, 0);
        return true;
    }
    /* The address was in x8, which is not preserved. */
    if (!is_x86 && (type->is_reference || (is_parts(type) && !is_homogeneous(type) &&
                                           type->size > IN_REGISTERS_MAX)))
        return false;
    if (!put(&calling, type, out))
        return false;
    if (is_x86)
        rename_registers(out);
    return true;
}

bool cn_calling_nth(enum cn_calling_machine machine, bool is_float, uint32_t n,
                    struct cn_rec_piece *out)
{
    const struct registers *regs = &registers[machine];

    *out = (struct cn_rec_piece){.len = WORD};
    if (is_float) {
        out->source = CN_REC_FROM_VECTOR;
        out->reg = (uint8_t)n;
        return n < VECTORS;
    }
    if (n < regs->integer_count) {
        out->source = CN_REC_FROM_REGISTER;
        out->reg = regs->integers[n];
    } else {
        out->source = CN_REC_FROM_STACK;
        out->offset = (int32_t)((n - regs->integer_count) * WORD);
    }
    return n < UINT8_MAX;
}

static bool parse_small(const char *text, uint32_t limit, uint32_t *out)
{
    uint32_t value = 0;

    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > limit)
            return false;
        value = value * 10 + (uint32_t)(*text - '0');
    }
    *out = value;
    return value < limit;
}

bool cn_calling_register(enum cn_calling_machine machine, const char *name,
                         struct cn_rec_piece *out)
{
    static const char *const x86_names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                            "rbp", "rsp", "r8",  "r9",  "r10", "r11"};
    bool is_x86 = machine == CN_CALLING_X86_64;
    uint32_t number = 0;

    *out = (struct cn_rec_piece){.source = CN_REC_FROM_REGISTER, .len = WORD};
    if (strncmp(name, "stack", 5) == 0 &&
        parse_small(name + 5 + (name[5] == '+'), 1024, &number) && number > 0) {
        out->source = CN_REC_FROM_STACK;
        out->offset = (int32_t)((number - 1) * WORD);
        return true;
    }
    for (size_t i = 0; is_x86 && i < sizeof(x86_names) / sizeof(x86_names[0]); i++) {
        if (strcmp(name, x86_names[i]) == 0) {
            out->reg = (uint8_t)i;
            return i < 6 || i > 7; /* rbp and rsp contain no arguments */
        }
    }
    if (is_x86 ? strncmp(name, "xmm", 3) == 0 && parse_small(name + 3, VECTORS, &number)
               : (name[0] == 'd' || name[0] == 's' || name[0] == 'v') &&
                     parse_small(name + 1, VECTORS, &number)) {
        out->source = CN_REC_FROM_VECTOR;
        out->reg = (uint8_t)number;
        return true;
    }
    if (!is_x86 && (name[0] == 'x' || name[0] == 'X') &&
        parse_small(name + 1, 9, &number)) {
        out->reg = (uint8_t)number;
        return true;
    }
    return false;
}
