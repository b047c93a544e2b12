#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/search.h"
#include "sampler/languages/v8.h"

/* What is looked at for code that was not seen before. */
enum {
    SEARCHES_MAX = 16, /* for one stack */
    SEARCH_LEN_MAX = 1 << 20,
    SEARCH_PART_LEN = 1 << 13,
    CANDIDATES_MAX = 256,
    CODE_LEN_MAX = 1 << 26,
    CODES_MAX = 1 << 16,
    INLINED_MAX = 1 << 12,
    INLINED_LEN = 16, /* of an entry: a position and an index */
    MISSED_LEN = 64,
    MISSED_ROUNDS = 1000, /* stacks until the next search */
    KIND_MASK = 15,       /* of the flags */
    KIND_REGEXP = 3,
};

static bool is_one_of(int32_t type, const int32_t *types, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (type == types[i] && type != CN_V8_UNKNOWN)
            return true;
    return false;
}

/* The elements of a tagged array. */
static bool find_array(struct cn_v8 *v8, uint64_t object, uint64_t *data, uint32_t *count)
{
    const struct cn_v8_layout *l = &v8->layout;
    const int32_t types[] = {
        l->type_array,      l->type_trusted_array,      l->type_protected_array,
        l->type_weak_array, l->type_trusted_weak_array, l->type_protected_weak_array};
    uint64_t len;
    int32_t type;

    if (!cn_v8_type(v8, object, &type) ||
        !is_one_of(type, types, sizeof(types) / sizeof(*types)) ||
        !cn_v8_field(v8, object, l->array_len, &len) || (len & UINT32_MAX) != 0 ||
        len >> 63)
        return false;
    *data = object - 1 + (uint64_t)l->array_data;
    *count = (uint32_t)(len >> 32);
    return true;
}

static bool element(struct cn_v8 *v8, uint64_t data, uint32_t count, int32_t index,
                    uint64_t *out)
{
    return index >= 0 && (uint32_t)index < count &&
           cn_memory_u64(v8->memory, data + 8 * (uint64_t)(uint32_t)index, out);
}

/* The functions that were inlined, and where. */
static void read_inlined(struct cn_v8 *v8, struct cn_v8_code *code, uint64_t positions,
                         uint64_t literals)
{
    const struct cn_v8_layout *l = &v8->layout;
    uint64_t len, data, shared;
    uint32_t literal_count;
    int32_t type;

    if (!cn_v8_type(v8, positions, &type) ||
        (type != l->type_bytes && type != l->type_trusted_bytes) ||
        !cn_v8_field(v8, positions, l->array_len, &len) ||
        !find_array(v8, literals, &data, &literal_count))
        return;
    size_t count = (size_t)(len >> 32) / INLINED_LEN;
    if (count == 0 || count > INLINED_MAX ||
        v8->position_count + count > CN_V8_POSITIONS_MAX)
        return;
    v8->position_count += count;
    code->inlined = cn_alloc(count, sizeof(*code->inlined));
    code->inlined_count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = positions - 1 + (uint64_t)l->array_data + INLINED_LEN * i;
        uint64_t position;
        uint32_t index;

        code->inlined[i].function = UINT32_MAX;
        if (!cn_memory_u64(v8->memory, at, &position) ||
            !cn_memory_u32(v8->memory, at + 8, &index))
            continue;
        code->inlined[i].source = (int32_t)cn_bits(position, 1, 30) - 1;
        code->inlined[i].inlined = (int32_t)cn_bits(position, 31, 16) - 1;
        if (index <= INT32_MAX &&
            element(v8, data, literal_count, (int32_t)index, &shared))
            code->inlined[i].function = cn_v8_shared_of(v8, shared);
    }
}

/* What optimised code is made of: data for its end, and the positions in the next field. */
static void read_sources(struct cn_v8 *v8, struct cn_v8_code *code, uint64_t object)
{
    const struct cn_v8_layout *l = &v8->layout;
    uint64_t deopt, data, shared, literals, inlined, table;
    uint32_t count;
    int32_t type;

    for (int32_t off = 8; off <= 16; off += 8) {
        if (!cn_v8_field(v8, object, off, &deopt) ||
            !find_array(v8, deopt, &data, &count) ||
            !element(v8, data, count, l->deopt_shared, &shared) ||
            !element(v8, data, count, l->deopt_literals, &literals) ||
            !element(v8, data, count, l->deopt_positions, &inlined) ||
            !cn_v8_type(v8, shared, &type))
            continue;
        if (l->type_shared_wrapper != CN_V8_UNKNOWN && type == l->type_shared_wrapper &&
            !cn_v8_field(v8, shared, l->wrapper_shared, &shared))
            continue;
        code->function = cn_v8_shared_of(v8, shared);
        if (code->function == UINT32_MAX || !cn_v8_field(v8, object, off + 8, &table))
            continue;
        cn_v8_positions_read(v8, table, &code->positions);
        read_inlined(v8, code, inlined, literals);
        return;
    }
}

/* Whether an object that contains code begins at an address, and has this one. Before V8 11 it
 * is the description of the code itself. */
static bool read_code(struct cn_v8 *v8, uint64_t begin, uint64_t address,
                      struct cn_v8_code *out)
{
    const struct cn_v8_layout *l = &v8->layout;
    bool has_stream = l->type_stream != CN_V8_UNKNOWN;
    uint64_t object = begin + 1, start;
    uint32_t len, flags;
    int32_t type;

    *out = (struct cn_v8_code){.object = begin, .function = UINT32_MAX};
    if (!cn_memory_read(v8->memory, begin, out->words, sizeof(out->words)) ||
        !cn_v8_type(v8, begin + 1, &type) ||
        type != (has_stream ? l->type_stream : l->type_code))
        return false;
    out->begin = begin + (uint64_t)(has_stream ? l->stream_start : l->code_start);
    if (has_stream) {
        object = out->words[1];
        if (!cn_v8_type(v8, object, &type) || type != l->type_code ||
            !cn_v8_field(v8, object, l->code_start, &start) || start != out->begin)
            return false;
    }
    if (!cn_memory_u32(v8->memory, object - 1 + (uint64_t)l->code_len, &len) ||
        !cn_memory_u32(v8->memory, object - 1 + (uint64_t)l->code_flags, &flags) ||
        len > CODE_LEN_MAX || address < out->begin || address - out->begin >= len)
        return false;
    out->end = out->begin + len;
    out->is_regexp = (flags & KIND_MASK) == KIND_REGEXP;
    v8->stream_map = out->words[0];
    read_sources(v8, out, object);
    return true;
}

/* Search backwards for the beginning of the object that contains an address. */
static bool search(struct cn_v8 *v8, uint64_t lowest, uint64_t address,
                   struct cn_v8_code *out)
{
    uint8_t bytes[SEARCH_PART_LEN];
    unsigned candidates = 0;

    if (address - lowest > SEARCH_LEN_MAX)
        lowest = address - SEARCH_LEN_MAX;
    for (uint64_t end = (address & ~UINT64_C(7)) + 8; end > lowest;) {
        uint64_t begin = end - 1 - (end - 1) % SEARCH_PART_LEN;

        begin = begin > lowest ? begin : lowest;
        /* Once for each code, beside what is read for each sample. */
        v8->memory->left += SEARCH_PART_LEN;
        if (!cn_memory_read(v8->memory, begin, bytes, (size_t)(end - begin)))
            return false;
        for (uint64_t at = end; at > begin; at -= 8) {
            uint64_t word = cn_u64_get(bytes + (at - 8 - begin));

            if (v8->stream_map ? word != v8->stream_map : (word & 3) != 1 || word >> 48)
                continue;
            if (read_code(v8, at - 8, address, out))
                return true;
            if (++candidates == CANDIDATES_MAX)
                return false;
        }
        end = begin;
    }
    return false;
}

static void release(struct cn_v8 *v8, struct cn_v8_code *code)
{
    cn_v8_positions_free(v8, &code->positions);
    v8->position_count -= code->inlined_count;
    free(code->inlined);
}

/* The first code that ends after an address. */
static size_t find_index(const struct cn_v8 *v8, uint64_t address)
{
    return v8->code_count == 0 ? 0
                               : cn_search_u64(&v8->codes[0].end, v8->code_count,
                                               sizeof(*v8->codes), address);
}

/* Remove what overlaps code that was found. */
static size_t make_room(struct cn_v8 *v8, const struct cn_v8_code *code)
{
    size_t first = find_index(v8, code->begin), last = first;

    while (last < v8->code_count && v8->codes[last].begin < code->end)
        release(v8, &v8->codes[last++]);
    if (last > first) {
        memmove(v8->codes + first, v8->codes + last,
                (v8->code_count - last) * sizeof(*v8->codes));
        v8->code_count -= last - first;
    }
    return first;
}

/* Whether code near an address was searched in vain not long ago. */
static bool is_missed(const struct cn_v8 *v8, uint64_t address)
{
    const struct cn_v8_missed *missed = &v8->missed[address / MISSED_LEN % CN_V8_MISSED];

    return missed->number == address / MISSED_LEN &&
           v8->memory->round - missed->round < MISSED_ROUNDS;
}

struct cn_v8_code *cn_v8_code_at(struct cn_v8 *v8, uint64_t lowest, uint64_t address)
{
    size_t at = find_index(v8, address);
    uint64_t words[4];
    struct cn_v8_code code;

    if (at < v8->code_count && v8->codes[at].begin <= address) {
        /* What can not be read any more was there when it was sampled. */
        if (!cn_memory_read(v8->memory, v8->codes[at].object, words, sizeof(words)))
            return cn_v8_is_gone(v8) ? &v8->codes[at] : NULL;
        if (memcmp(words, v8->codes[at].words, 2 * sizeof(*words)) == 0)
            return &v8->codes[at];
    }
    if (v8->search_round != v8->memory->round) {
        v8->search_round = v8->memory->round;
        v8->search_count = 0;
    }
    if (is_missed(v8, address) || v8->search_count == SEARCHES_MAX)
        return NULL;
    v8->search_count++;
    if (!search(v8, lowest, address, &code)) {
        v8->missed[address / MISSED_LEN % CN_V8_MISSED] =
            (struct cn_v8_missed){address / MISSED_LEN, v8->memory->round};
        return NULL;
    }
    at = make_room(v8, &code);
    if (v8->code_count == CODES_MAX) {
        release(v8, &v8->codes[--v8->code_count]);
        at = at < v8->code_count ? at : v8->code_count;
    }
    CN_GROW(v8->codes, v8->code_count, v8->code_capacity);
    memmove(v8->codes + at + 1, v8->codes + at,
            (v8->code_count - at) * sizeof(*v8->codes));
    v8->codes[at] = code;
    v8->code_count++;
    return &v8->codes[at];
}
