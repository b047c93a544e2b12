/* One attribute of all packed spans: its columns are read, and no record is made. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/zorka/unpacker.h"

struct cn_trace_value cn_unpack_value(enum cn_trace_value_kind kind, uint64_t number)
{
    struct cn_trace_value value = {.kind = kind};

    switch (kind) {
    case CN_VALUE_BOOL:
        value.boolean = number != 0;
        break;
    case CN_VALUE_INT:
        value.integer = (int64_t)cn_unzigzag(number);
        break;
    case CN_VALUE_FLOAT:
        memcpy(&value.real, &number, sizeof(value.real));
        break;
    case CN_VALUE_WORD:
        value.word = (uint32_t)number;
        break;
    case CN_VALUE_NULL:
    case CN_VALUE_LIST:
    case CN_VALUE_MAP:
    default:
        break;
    }
    return value;
}

/* A member of a shape whose columns are read. */
struct member_read {
    uint32_t column, kind;
};

/* What of a shape is read: these, of all. */
struct shape_read {
    uint32_t first, count;
    bool is_several; /* the value is not one of a column */
};

struct reading {
    const struct cn_zorka_unpacker *unpacker;
    struct shape_read *shapes;
    struct member_read *members;
    size_t member_count, member_capacity;
    size_t *at; /* by column: its next value */
};

static bool is_among(const uint32_t *words, size_t count, uint32_t word)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] == word)
            return true;
    return false;
}

/* Shapes share columns by key and kind: a column is read wherever a shape has it. */
static void find_members(struct reading *reading, const struct cn_zorka_names *names)
{
    const struct cn_zorka_unpacker *unpacker = reading->unpacker;

    for (size_t s = 0; s < unpacker->shape_count; s++) {
        const struct unpack_shape *shape = &unpacker->shapes[s];
        struct shape_read *read = &reading->shapes[s];
        uint32_t own_count = 0;

        read->first = (uint32_t)reading->member_count;
        for (uint32_t i = shape->first; i < shape->first + shape->count; i++) {
            const struct unpack_member *member = &unpacker->members[i];
            bool is_nested =
                member->kind == CN_VALUE_LIST || member->kind == CN_VALUE_MAP;
            bool is_own = is_among(names->own, names->own_count, member->key);

            read->is_several |=
                is_nested &&
                (is_own || is_among(names->outer, names->outer_count, member->key));
            if (!is_own || is_nested || member->kind == CN_VALUE_NULL)
                continue;
            own_count++;
            CN_PUSH(reading->members, reading->member_count, reading->member_capacity,
                    (struct member_read){member->column, member->kind});
        }
        read->count = own_count;
        read->is_several |= own_count > 1;
    }
}

/* The value of the next list of attributes, which has a shape. */
static bool take_value(struct reading *reading, uint64_t shape,
                       struct cn_trace_value *out)
{
    const struct shape_read *read = &reading->shapes[shape];

    *out =
        (struct cn_trace_value){.kind = read->is_several ? CN_VALUE_LIST : CN_VALUE_NULL};
    for (uint32_t i = read->first; i < read->first + read->count; i++) {
        const struct member_read *member = &reading->members[i];
        const struct unpack_column *column = &reading->unpacker->columns[member->column];
        size_t at = reading->at[member->column]++;

        if (at >= column->count)
            return false;
        if (!read->is_several)
            *out = cn_unpack_value((enum cn_trace_value_kind)member->kind,
                                   cn_unpack_value_at(column, at));
    }
    return true;
}

/* Pass over the attributes of events or links. */
static bool skip_values(struct reading *reading, const struct unpack_column *shapes,
                        size_t *at, uint64_t count)
{
    struct cn_trace_value ignored;

    for (; count > 0; count--, (*at)++)
        if (*at >= shapes->count ||
            !take_value(reading, cn_unpack_value_at(shapes, *at), &ignored))
            return false;
    return true;
}

static bool take_spans(struct reading *reading, struct cn_trace_value *out)
{
    const struct unpack_column *fixed = reading->unpacker->fixed;
    size_t event = 0, link = 0;

    for (size_t i = 0; i < fixed[SPAN_SHAPE].count; i++)
        if (!take_value(reading, cn_unpack_value_at(&fixed[SPAN_SHAPE], i), &out[i]) ||
            !skip_values(reading, &fixed[EVENT_SHAPE], &event,
                         cn_unpack_value_at(&fixed[SPAN_EVENTS], i)) ||
            !skip_values(reading, &fixed[LINK_SHAPE], &link,
                         cn_unpack_value_at(&fixed[SPAN_LINKS], i)))
            return false;
    return true;
}

bool cn_zorka_unpack_attribute(const struct cn_zorka_unpacker *unpacker,
                               const struct cn_zorka_names *names,
                               struct cn_zorka_values *out, struct cn_error *err)
{
    struct reading reading = {
        .unpacker = unpacker,
        .shapes = cn_alloc(unpacker->shape_count + 1, sizeof(struct shape_read)),
        .at = cn_alloc(unpacker->column_count + 1, sizeof(size_t)),
    };

    out->count = unpacker->record_count > 0 ? unpacker->fixed[SPAN_SHAPE].count : 0;
    CN_GROW_TO(out->list, out->count, out->capacity);
    find_members(&reading, names);
    bool ok = out->count == 0 || take_spans(&reading, out->list);
    free(reading.shapes);
    free(reading.members);
    free(reading.at);
    return ok || cn_zorka_unpack_fail("a column is too short", err);
}
