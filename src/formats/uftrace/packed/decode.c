#include "formats/uftrace/packed/decode.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/compress.h"
#include "formats/uftrace/packed/predictor.h"
#include "formats/uftrace/records/reader.h"

/* Records are unpacked in steps that fit the processor's cache. */
enum { STEP_ITEMS = 1 << 12 };

/* The columns of a chunk; wide, picks, lengths and payload shrink as they are read. */
struct decode_columns {
    struct cn_bytes words, choices, times, wide, picks, lengths, payload;
};

/* Position in a chunk. */
struct decode_walk {
    struct decode_columns columns;
    struct cn_uft_unpacker *unpacker;
    uint8_t *out; /* the next byte to write */
    uint64_t time_ns;
    uint64_t made_len; /* bytes unpacked in earlier steps */
    uint32_t item;     /* the next one */
    uint32_t pick_end; /* one past the largest pick */
    bool is_big_endian;
};

struct cn_uft_unpacker {
    struct cn_uft_predictor predictor;
    uint64_t words[CN_UFT_PICK_WORD + CN_UFT_PACKED_WORDS_MAX]; /* by pick */
    struct cn_decompressor *decompressor;
    uint8_t *body, *records;
    size_t body_capacity, records_capacity;
    struct cn_uft_packed_lead lead; /* of the chunk being unpacked */
    struct decode_walk walk;
};

struct cn_uft_unpacker *cn_uft_unpacker_new(void)
{
    struct cn_uft_unpacker *unpacker = cn_alloc(1, sizeof(*unpacker));

    unpacker->decompressor = cn_decompressor_new();
    unpacker->words[CN_UFT_PICK_EXIT_MORE] =
        CN_UFT_EXIT; /* must not look like an entry */
    return unpacker;
}

void cn_uft_unpacker_free(struct cn_uft_unpacker *unpacker)
{
    if (!unpacker)
        return;
    cn_decompressor_free(unpacker->decompressor);
    free(unpacker->body);
    free(unpacker->records);
    free(unpacker);
}

static bool check_limit(const char *what, uint64_t value, uint64_t limit,
                        struct cn_error *err)
{
    if (value <= limit)
        return true;
    return cn_fail(err, CN_ERR_FORMAT,
                   "packed chunk with %" PRIu64 " %s, at most %" PRIu64 " are allowed",
                   value, what, limit);
}

static bool check_lead(const struct cn_uft_packed_lead *lead, struct cn_error *err)
{
    enum { ITEMS = CN_UFT_PACKED_ITEMS_MAX };

    if (lead->depth >= CN_UFT_PACKED_DEPTH_MAX || lead->depth > lead->word_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "packed chunk with %u open functions and %u words", lead->depth,
                       lead->word_count);
    return check_limit("items", lead->item_count, ITEMS, err) &&
           check_limit("words", lead->word_count, CN_UFT_PACKED_WORDS_MAX, err) &&
           check_limit("bytes of times", lead->wide_len, (uint64_t)ITEMS * 8, err) &&
           check_limit("bytes of picks", lead->picks_len, (uint64_t)ITEMS * 8, err) &&
           check_limit("bytes of lengths", lead->lengths_len, (uint64_t)ITEMS * 8, err) &&
           check_limit("bytes of payload", lead->payload_len, CN_UFT_PACKED_PAYLOAD_MAX,
                       err);
}

bool cn_uft_packed_lead_read(struct cn_bytes chunk, struct cn_uft_packed_lead *out,
                             struct cn_error *err)
{
    uint8_t bytes[cn_uft_packed_lead_size];
    struct cn_uft_packed_lead lead;

    if (!cn_uft_packed_lead_decode(chunk, &lead))
        return cn_fail(err, CN_ERR_FORMAT,
                       "packed chunk of %zu bytes is shorter than its lead", chunk.len);
    memcpy(bytes, chunk.ptr, sizeof(bytes));
    memset(bytes + CN_UFT_PACKED_CHECK_OFF, 0, sizeof(lead.check));
    if (cn_crc32((struct cn_bytes){bytes, sizeof(bytes)}) != lead.check)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the lead of a packed chunk does not match its checksum 0x%08x",
                       lead.check);
    if (lead.version != CN_UFT_PACKED_VERSION)
        return cn_fail(err, CN_ERR_VERSION,
                       "packed records of version %u are not supported; supported is %d",
                       lead.version, CN_UFT_PACKED_VERSION);
    if (!check_lead(&lead, err))
        return false;
    *out = lead;
    return true;
}

static bool read_body(struct cn_uft_unpacker *unpacker,
                      const struct cn_uft_packed_lead *lead, struct cn_bytes stored,
                      struct decode_columns *out, struct cn_error *err)
{
    size_t words_len = lead->word_count * sizeof(uint64_t);
    size_t choices_len =
        (lead->item_count + CN_UFT_CHOICES_A_BYTE - 1) / CN_UFT_CHOICES_A_BYTE;
    /* Cannot overflow: the lead was checked against its limits. */
    size_t len = words_len + choices_len + lead->item_count + lead->wide_len +
                 lead->picks_len + lead->lengths_len + lead->payload_len;
    struct cn_bytes body = stored;

    if (len / CN_UFT_PACKED_RATIO_MAX > stored.len)
        return cn_fail(err, CN_ERR_FORMAT, "packed chunk of %zu bytes expands to %zu",
                       stored.len, len);
    if (lead->compression != CN_COMPRESSION_NONE) {
        unpacker->body = cn_grow_to(unpacker->body, len, &unpacker->body_capacity, 1);
        if (!cn_decompress(unpacker->decompressor, lead->compression, stored,
                           unpacker->body, len, err))
            return false;
        body = (struct cn_bytes){unpacker->body, len};
    } else if (stored.len != len) {
        return cn_fail(err, CN_ERR_FORMAT, "packed chunk has %zu bytes instead of %zu",
                       stored.len, len);
    }
    return (cn_bytes_take(&body, words_len, &out->words) &&
            cn_bytes_take(&body, choices_len, &out->choices) &&
            cn_bytes_take(&body, lead->item_count, &out->times) &&
            cn_bytes_take(&body, lead->wide_len, &out->wide) &&
            cn_bytes_take(&body, lead->picks_len, &out->picks) &&
            cn_bytes_take(&body, lead->lengths_len, &out->lengths) &&
            cn_bytes_take(&body, lead->payload_len, &out->payload)) ||
           cn_fail(err, CN_ERR_FORMAT, "packed chunk is too short for its columns");
}

static bool read_words(struct cn_uft_unpacker *unpacker,
                       const struct cn_uft_packed_lead *lead, struct cn_bytes words,
                       struct cn_error *err)
{
    for (uint32_t i = 0; i < lead->word_count; i++) {
        uint64_t word = cn_u64_get(words.ptr + i * sizeof(word));
        uint64_t type = word & CN_UFT_TYPE_MASK;

        if ((type == CN_UFT_ENTRY || type == CN_UFT_EXIT) && (word & CN_UFT_DEPTH_MASK))
            return cn_fail(err, CN_ERR_FORMAT,
                           "packed word %u, 0x%016" PRIx64 ", has a depth", i, word);
        unpacker->words[CN_UFT_PICK_WORD + i] = word;
        if (i < lead->depth)
            unpacker->predictor.frames[i].word = word;
    }
    cn_uft_predictor_begin(&unpacker->predictor, lead->depth);
    return true;
}

static bool take_number(struct cn_bytes *column, uint32_t *out)
{
    uint32_t value = 0;
    struct cn_bytes byte;

    for (unsigned shift = 0; shift < 32; shift += 7) {
        if (!cn_bytes_take(column, 1, &byte))
            return false;
        value |= (uint32_t)(*byte.ptr & 0x7f) << shift;
        if (*byte.ptr < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool take_long_time(struct decode_walk *walk, uint8_t code, uint64_t *delta_ns,
                           struct cn_error *err)
{
    static const uint8_t lens[] = {2, 3, 4, 6, 8, 1};
    uint8_t bytes[8] = {0};
    struct cn_bytes wide;
    size_t len = 1;

    if (code >= CN_UFT_TIME_CODES_END)
        return cn_fail(err, CN_ERR_FORMAT, "packed time of unknown kind %u", code);
    if (code >= CN_UFT_TIME_LONG_END)
        len = lens[code - CN_UFT_TIME_LONG_END];
    if (!cn_bytes_take(&walk->columns.wide, len, &wide))
        return cn_fail(err, CN_ERR_FORMAT, "packed column 'wide' is too short");
    memcpy(bytes, wide.ptr, len);
    *delta_ns = cn_u64_get(bytes);
    if (code < CN_UFT_TIME_LONG_END)
        *delta_ns +=
            CN_UFT_TIME_SHORT_END + ((uint64_t)(code - CN_UFT_TIME_SHORT_END) << 8);
    else if (code == CN_UFT_TIME_BACK)
        *delta_ns = 0 - *delta_ns - 1;
    return true;
}

static bool copy_bytes(struct decode_walk *walk, struct cn_error *err)
{
    struct cn_bytes bytes;
    uint32_t len;

    if (!take_number(&walk->columns.lengths, &len))
        return cn_fail(err, CN_ERR_FORMAT, "packed column 'lengths' is too short");
    if (!cn_bytes_take(&walk->columns.payload, len, &bytes))
        return cn_fail(err, CN_ERR_FORMAT, "packed payload of %u bytes, %zu are left",
                       len, walk->columns.payload.len);
    if (len)
        memcpy(walk->out, bytes.ptr, len);
    walk->out += len;
    return true;
}

/* Read a pick that was not predicted, with a change of depth before it. */
static bool take_pick(struct decode_walk *walk, uint32_t *out, struct cn_error *err)
{
    struct cn_bytes *picks = &walk->columns.picks;
    uint32_t pick, depth;

    if (!take_number(picks, &pick))
        return cn_fail(err, CN_ERR_FORMAT, "packed column 'picks' is too short");
    if (pick == CN_UFT_PICK_DEPTH) {
        if (!take_number(picks, &depth) || depth >= CN_UFT_PACKED_DEPTH_MAX ||
            !take_number(picks, &pick) || pick == CN_UFT_PICK_DEPTH)
            return cn_fail(err, CN_ERR_FORMAT, "packed depth is not followed by a call");
        cn_uft_predictor_move(&walk->unpacker->predictor, depth);
    }
    if (pick >= walk->pick_end)
        return cn_fail(err, CN_ERR_FORMAT, "packed pick %u, the limit is %u", pick,
                       walk->pick_end);
    *out = pick;
    return true;
}

/* The word of a pick that is neither an entry nor a plain exit; updates the predictor. */
static uint64_t follow_special(struct cn_uft_unpacker *unpacker, uint32_t pick)
{
    struct cn_uft_predictor *predictor = &unpacker->predictor;
    uint64_t word = unpacker->words[pick];

    if (pick == CN_UFT_PICK_EXIT_MORE) {
        word = cn_uft_exit_word(cn_uft_predictor_top(predictor)->word, true);
    } else if ((word & CN_UFT_TYPE_MASK) != CN_UFT_EXIT) {
        cn_uft_predictor_note(predictor, pick);
        return word;
    }
    predictor->depth = cn_uft_depth_below(predictor->depth);
    return word | (uint64_t)predictor->depth << CN_UFT_DEPTH_AT;
}

/* The same for all picks. The branch is worth its mispredictions: when it is predicted,
 * the next record starts before this one is complete. */
static inline uint64_t follow(struct cn_uft_unpacker *unpacker, uint32_t pick)
{
    struct cn_uft_predictor *predictor = &unpacker->predictor;
    uint64_t depth = predictor->depth, word;

    if (pick == CN_UFT_PICK_EXIT) {
        depth = predictor->depth = cn_uft_depth_below(predictor->depth);
        word = cn_uft_exit_word(predictor->frames[depth].word, false);
    } else {
        word = unpacker->words[pick];
        if ((word & CN_UFT_TYPE_MASK) != CN_UFT_ENTRY)
            return follow_special(unpacker, pick);
        cn_uft_predictor_call(predictor, pick, word, false);
    }
    return word | depth << CN_UFT_DEPTH_AT;
}

static inline bool unpack_item(struct decode_walk *walk, unsigned choice, uint8_t time,
                               struct cn_error *err)
{
    struct cn_uft_unpacker *unpacker = walk->unpacker;
    struct cn_uft_prediction *prediction = cn_uft_predictor_here(&unpacker->predictor);
    uint64_t delta_ns = time, word;
    uint32_t pick;

    if (choice == CN_UFT_CHOICE_NONE) {
        if (!take_pick(walk, &pick, err))
            return false;
        if (pick == CN_UFT_PICK_VERBATIM)
            return copy_bytes(walk, err);
        prediction = cn_uft_predictor_here(&unpacker->predictor);
    } else {
        pick = prediction->picks[choice];
    }
    cn_uft_prediction_refresh(prediction, choice, pick);
    if (time >= CN_UFT_TIME_SHORT_END && !take_long_time(walk, time, &delta_ns, err))
        return false;
    walk->time_ns += delta_ns;
    word = follow(unpacker, pick);
    cn_uft_record_put((struct cn_uft_record){walk->time_ns, word}, walk->is_big_endian,
                      walk->out);
    walk->out += cn_uft_record_size;
    return !(word & CN_UFT_MORE_MASK) || copy_bytes(walk, err);
}

static bool unpack_items(struct decode_walk *walk, uint32_t end, struct cn_error *err)
{
    /* The compiler can keep a local copy in registers. */
    struct decode_walk at = *walk;
    bool ok = true;

    for (; at.item < end && ok; at.item++) {
        unsigned shift = at.item % CN_UFT_CHOICES_A_BYTE * CN_UFT_CHOICE_BITS;
        uint8_t choices = at.columns.choices.ptr[at.item / CN_UFT_CHOICES_A_BYTE];

        ok = unpack_item(&at, choices >> shift & CN_UFT_CHOICE_NONE,
                         at.columns.times.ptr[at.item], err) ||
             cn_fail_in(err, "item %u of the chunk", at.item);
    }
    *walk = at;
    return ok;
}

bool cn_uft_unpacker_begin(struct cn_uft_unpacker *unpacker, struct cn_bytes chunk,
                           struct cn_uft_packed_lead *lead, struct cn_error *err)
{
    struct decode_walk walk = {.unpacker = unpacker};
    struct cn_bytes stored;

    unpacker->lead.item_count = unpacker->walk.item = 0; /* for the case of failure */
    if (!cn_uft_packed_lead_read(chunk, lead, err) ||
        !cn_bytes_from(chunk, cn_uft_packed_lead_size, &stored) ||
        !read_body(unpacker, lead, stored, &walk.columns, err) ||
        !read_words(unpacker, lead, walk.columns.words, err))
        return false;
    walk.time_ns = lead->start_ns;
    walk.pick_end = CN_UFT_PICK_WORD + lead->word_count;
    walk.is_big_endian = lead->flags & CN_UFT_PACKED_BIG_ENDIAN;
    unpacker->walk = walk;
    unpacker->lead = *lead;
    return true;
}

/* Check that all columns were used up and gave as many bytes as the lead declares. */
static enum cn_step end_chunk(const struct cn_uft_unpacker *unpacker,
                              struct cn_error *err)
{
    const struct decode_columns *left = &unpacker->walk.columns;

    if (unpacker->walk.made_len != unpacker->lead.unpacked_len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "packed chunk unpacks to %" PRIu64 " bytes instead of %u",
                       unpacker->walk.made_len, unpacker->lead.unpacked_len);
    if (left->wide.len + left->picks.len + left->lengths.len + left->payload.len > 0)
        return cn_fail(err, CN_ERR_FORMAT, "packed chunk has unused bytes");
    return CN_END;
}

enum cn_step cn_uft_unpacker_next(struct cn_uft_unpacker *unpacker, struct cn_bytes *out,
                                  struct cn_error *err)
{
    struct decode_walk *walk = &unpacker->walk;
    uint32_t count = unpacker->lead.item_count - walk->item;

    if (count == 0)
        return end_chunk(unpacker, err);
    if (count > STEP_ITEMS)
        count = STEP_ITEMS;
    /* Enough for anything the columns can produce, so that writing needs no checks. */
    unpacker->records = cn_grow_to(
        unpacker->records, (size_t)count * cn_uft_record_size + walk->columns.payload.len,
        &unpacker->records_capacity, 1);
    walk->out = unpacker->records;
    if (!unpack_items(walk, walk->item + count, err))
        return CN_FAIL;
    size_t len = (size_t)(walk->out - unpacker->records);
    walk->made_len += len;
    *out = (struct cn_bytes){unpacker->records, len};
    return CN_ITEM;
}

const uint64_t *cn_uft_unpacker_open_words(const struct cn_uft_unpacker *unpacker)
{
    return unpacker->words + CN_UFT_PICK_WORD;
}
