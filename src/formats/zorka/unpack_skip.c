/* Records that are not wanted: columns are moved to what follows. */

#include "formats/zorka/unpacker.h"

static void skip_nested(struct cn_zorka_unpacker *unpacker, uint64_t kind, unsigned depth)
{
    uint64_t count = cn_unpack_take(unpacker, NESTED);

    if (count > unpacker->nested_count || depth > CN_TRACE_VALUE_DEPTH_MAX)
        unpacker->is_short = true;
    count = kind == CN_VALUE_MAP ? count * 2 : count;
    for (uint64_t i = 0; i < count && !unpacker->is_short; i++) {
        uint64_t inner = cn_unpack_take(unpacker, NESTED);

        if (inner == CN_VALUE_LIST || inner == CN_VALUE_MAP)
            skip_nested(unpacker, inner, depth + 1);
        else
            (void)cn_unpack_take(unpacker, NESTED);
    }
}

static void skip_attributes(struct cn_zorka_unpacker *unpacker, enum packed_column column)
{
    uint64_t number = cn_unpack_take(unpacker, column);

    if (number >= unpacker->shape_count)
        return;
    const struct unpack_shape *shape = &unpacker->shapes[number];
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct unpack_member *member = &unpacker->members[shape->first + i];

        if (member->kind == CN_VALUE_LIST || member->kind == CN_VALUE_MAP)
            skip_nested(unpacker, member->kind, 1);
        else if (member->kind != CN_VALUE_NULL)
            unpacker->columns[member->column].at++;
    }
}

static void skip_values(struct cn_zorka_unpacker *unpacker, enum packed_column first,
                        enum packed_column last, uint64_t count)
{
    for (unsigned i = first; i <= (unsigned)last; i++)
        unpacker->fixed[i].at += (size_t)count;
}

bool cn_zorka_unpacker_skip(struct cn_zorka_unpacker *unpacker, struct cn_error *err)
{
    uint64_t spans = cn_unpack_value_at(&unpacker->fixed[RECORD_SPANS], unpacker->record);
    size_t first = unpacker->fixed[SPAN_UP].at;

    unpacker->time_ns +=
        cn_unzigzag(cn_unpack_value_at(&unpacker->fixed[RECORD_TIME], unpacker->record));
    unpacker->off +=
        (size_t)cn_unpack_value_at(&unpacker->fixed[RECORD_LEN], unpacker->record);
    unpacker->record++;
    skip_values(unpacker, RECORD_ID_HIGH, RECORD_SPANS, 1);
    /* The lists and maps of a span, then those of its events and links. */
    for (size_t i = first; i < first + spans && !unpacker->is_short; i++) {
        uint64_t events = cn_unpack_value_at(&unpacker->fixed[SPAN_EVENTS], i);
        uint64_t links = cn_unpack_value_at(&unpacker->fixed[SPAN_LINKS], i);

        skip_attributes(unpacker, SPAN_SHAPE);
        for (uint64_t k = 0; k < events && !unpacker->is_short; k++)
            skip_attributes(unpacker, EVENT_SHAPE);
        for (uint64_t k = 0; k < links && !unpacker->is_short; k++)
            skip_attributes(unpacker, LINK_SHAPE);
        skip_values(unpacker, EVENT_TIME, EVENT_ANNOTATION, events);
        skip_values(unpacker, LINK_HIGH, LINK_DROPPED, links);
        unpacker->fixed[PARENT_ID].at +=
            cn_unpack_value_at(&unpacker->fixed[SPAN_PARENT], i) == PACKED_PARENT_OTHER;
        unpacker->fixed[END_TIME].at +=
            (cn_unpack_value_at(&unpacker->fixed[SPAN_MORE], i) & PACKED_HAS_END) != 0;
    }
    skip_values(unpacker, SPAN_UP, SPAN_MORE, spans);
    return !unpacker->is_short || cn_zorka_unpack_fail("a column is too short", err);
}
