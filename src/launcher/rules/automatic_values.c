#include "launcher/rules/automatic_values.h"

enum {
    WORD = 8,
    STRUCT_MAX = 128, /* bytes recorded of a struct */
    X87_LEN = 10,
};

static bool is_stack_register(enum cn_calling_machine machine, uint32_t reg)
{
    return machine == CN_CALLING_X86_64 ? reg == 6 || reg == 7 : reg == 29 || reg == 31;
}

/* Callee-saved registers, which the hooks save. */
static bool is_saved_register(enum cn_calling_machine machine, uint32_t reg)
{
    return machine == CN_CALLING_X86_64 ? reg == 3 || reg == 6 || (reg >= 12 && reg <= 15)
                                        : reg >= 19 && reg <= 29;
}

/* Find a parameter that was moved: it is in a callee-saved register or in memory. */
static bool find_moved(enum cn_calling_machine machine,
                       const struct cn_parameter *parameter, struct cn_rec_value *out)
{
    const struct cn_value_type *type = &parameter->type;
    const struct cn_value_storage *storage = &parameter->storage;
    bool is_text = type->kind == CN_VALUE_STD_STRING;
    uint64_t len = is_text ? WORD : type->size;
    struct cn_rec_piece piece = {
        .reg = (uint8_t)storage->reg,
        .len = len < UINT16_MAX ? (uint16_t)len : UINT16_MAX,
        .offset = (int32_t)storage->offset,
    };

    if (storage->reg > UINT8_MAX || storage->offset != piece.offset)
        return false;
    switch (storage->kind) {
    case CN_STORAGE_REGISTER:
        if (!is_saved_register(machine, storage->reg) || len > WORD)
            return false;
        piece.source =
            type->is_reference && !is_text ? CN_REC_FROM_POINTER : CN_REC_FROM_REGISTER;
        break;
    case CN_STORAGE_MEMORY:
        if (is_text && type->is_reference)
            return false;
        piece.source = is_stack_register(machine, storage->reg) ? CN_REC_FROM_FRAME
                                                                : CN_REC_FROM_POINTER;
        break;
    case CN_STORAGE_POINTER:
        piece.source = is_text ? CN_REC_FROM_FRAME : CN_REC_FROM_FRAME_POINTER;
        if (!is_stack_register(machine, storage->reg))
            return false;
        break;
    case CN_STORAGE_UNKNOWN:
    default:
        return false;
    }
    out->pieces[0] = piece;
    out->piece_count = 1;
    return true;
}

/* In a clone, only a register that debug information names at the entry is reliable. */
static bool find_in_clone(enum cn_calling_machine machine,
                          const struct cn_parameter *parameter, struct cn_rec_value *out)
{
    const struct cn_value_storage *storage = &parameter->storage;
    bool is_x86 = machine == CN_CALLING_X86_64;
    uint32_t first_vector = is_x86 ? 17 : 64;
    bool is_vector = storage->reg >= first_vector && storage->reg < first_vector + 8;
    bool is_float = parameter->type.kind == CN_VALUE_FLOAT;

    if (storage->kind != CN_STORAGE_REGISTER || parameter->type.size > WORD ||
        parameter->type.kind == CN_VALUE_STRUCT || is_vector != is_float ||
        (!is_vector && storage->reg > (is_x86 ? 9 : 7)) || storage->reg == 3)
        return false;
    out->pieces[0] = (struct cn_rec_piece){
        .source = is_vector ? CN_REC_FROM_VECTOR : CN_REC_FROM_REGISTER,
        .reg = (uint8_t)(is_vector ? storage->reg - first_vector : storage->reg),
        .len = (uint16_t)parameter->type.size,
    };
    out->piece_count = 1;
    return true;
}

/* Append the format of a value, as after "arg1/"; false when there is none. */
static bool describe(enum cn_calling_machine machine, const struct cn_value_type *type,
                     struct cn_rec_value *value, struct cn_text *format)
{
    value->kind = CN_REC_VALUE_PLAIN;
    value->size = (uint16_t)(type->size < STRUCT_MAX ? type->size : STRUCT_MAX);
    switch (type->kind) {
    case CN_VALUE_SIGNED:
        cn_text_printf(format, "d%u", value->size * 8u);
        return true;
    case CN_VALUE_UNSIGNED:
        cn_text_printf(format, "u%u", value->size * 8u);
        return true;
    case CN_VALUE_CHAR:
        cn_text_char(format, 'c');
        return true;
    case CN_VALUE_POINTER:
        cn_text_char(format, 'p');
        return true;
    case CN_VALUE_STRING:
        value->kind = CN_REC_VALUE_STRING;
        cn_text_char(format, 's');
        return true;
    case CN_VALUE_STD_STRING:
        value->kind = CN_REC_VALUE_STD_STRING;
        cn_text_char(format, 'S');
        return true;
    case CN_VALUE_ENUM:
        value->kind = CN_REC_VALUE_SIGNED;
        value->size = WORD;
        cn_text_printf(format, "e:%s", type->name);
        return true;
    case CN_VALUE_STRUCT:
        if (type->is_empty) {
            value->size = 0;
            value->piece_count = 0;
        }
        cn_text_printf(format, "t%u:%s", value->size, type->name);
        return true;
    case CN_VALUE_FLOAT:
        if (type->size > WORD)
            value->size = X87_LEN;
        cn_text_printf(format, "f%u", value->size * 8u);
        return type->size == 4 || type->size == WORD ||
               (type->size > WORD && machine == CN_CALLING_X86_64 &&
                type->name[0] != '\0');
    case CN_VALUE_NONE:
    case CN_VALUE_OTHER:
    default:
        return false;
    }
}

/* Add argument `number`, or the result for 0. `is_found`: its pieces are set. */
static void add_value(enum cn_calling_machine machine, const struct cn_value_type *type,
                      size_t number, bool is_found, struct cn_rec_value *value,
                      struct cn_text *text)
{
    struct cn_text format = {0};

    if (text->len > 0)
        cn_text_char(text, ',');
    if (!is_found || !describe(machine, type, value, &format)) {
        *value = (struct cn_rec_value){.kind = CN_REC_VALUE_UNKNOWN};
        cn_text_clear(&format);
        cn_text_str_add(&format, "e:" CN_ARGUMENT_UNKNOWN);
    }
    if (number == 0)
        cn_text_printf(text, "retval/%s", cn_text_str(&format));
    else if (value->kind == CN_REC_VALUE_PLAIN && type->kind == CN_VALUE_FLOAT)
        cn_text_printf(text, "fparg%zu/%s", number, cn_text_str(&format) + 1);
    else
        cn_text_printf(text, "arg%zu/%s", number, cn_text_str(&format));
    cn_text_done(&format);
}

void cn_automatic_values_find(struct cn_automatic_values *out,
                              enum cn_calling_machine machine,
                              const struct cn_prototype *prototype,
                              enum cn_hook_time time, bool has_result)
{
    struct cn_calling calling;

    *out = (struct cn_automatic_values){.texts = {{0}}};
    cn_calling_begin(&calling, machine, &prototype->result);
    for (size_t i = 0; i < prototype->count && i < CN_PARAMETERS_MAX; i++) {
        const struct cn_parameter *parameter = &prototype->parameters[i];
        struct cn_rec_value *value = &out->arguments[i];
        bool is_found;

        if (time == CN_HOOK_LATER)
            is_found = find_moved(machine, parameter, value);
        else if (time == CN_HOOK_FIRST_CLONE || !prototype->has_usual_calls)
            is_found = find_in_clone(machine, parameter, value);
        else
            is_found = cn_calling_next(&calling, &parameter->type, value);
        add_value(machine, &parameter->type, i + 1, is_found, value, &out->texts[0]);
    }
    if (has_result && prototype->result.kind != CN_VALUE_NONE)
        add_value(machine, &prototype->result, 0,
                  prototype->has_usual_calls && time != CN_HOOK_FIRST_CLONE &&
                      cn_calling_result(machine, &prototype->result, &out->result),
                  &out->result, &out->texts[1]);
}

void cn_automatic_values_done(struct cn_automatic_values *values)
{
    cn_text_done(&values->texts[0]);
    cn_text_done(&values->texts[1]);
}

bool cn_automatic_values_moved(enum cn_calling_machine machine,
                               const struct cn_prototype *prototype,
                               const struct cn_rec_piece *passed,
                               struct cn_rec_value *out)
{
    struct cn_calling calling;
    struct cn_rec_value value = {0};

    cn_calling_begin(&calling, machine, &prototype->result);
    for (size_t i = 0; i < prototype->count && i < CN_PARAMETERS_MAX; i++) {
        const struct cn_parameter *parameter = &prototype->parameters[i];
        const struct cn_rec_piece *piece = &value.pieces[0];

        if (!prototype->has_usual_calls ||
            !cn_calling_next(&calling, &parameter->type, &value))
            return false;
        if (value.piece_count == 1 && piece->source == passed->source &&
            piece->reg == passed->reg && piece->offset == passed->offset)
            return parameter->type.kind != CN_VALUE_STRUCT &&
                   find_moved(machine, parameter, out);
    }
    return false;
}
