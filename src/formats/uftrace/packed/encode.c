#include "formats/uftrace/packed/encode.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/uftrace/packed/predictor.h"

enum {
    SLOT_BITS = 14, /* at most half of the slots are used */
    SLOT_COUNT = 1 << SLOT_BITS,
    ITEMS_MAX = CN_UFT_PACKED_ITEMS_MAX,
    WIDE_MAX = 8,   /* bytes of one item in each column */
    PICKS_MAX = 5,  /* a depth, 1 + 2 bytes, and a pick of 2 */
    LENGTH_MAX = 3, /* of a bytes */
};

/* An entry or an exit without payload: all bits that must match. */
#define PLAIN_MASK                                            \
    (UINT64_C(1) << (CN_UFT_TYPE_AT + 1) | CN_UFT_MORE_MASK | \
     ((UINT64_C(1) << CN_UFT_RECORD_MAGIC_BITS) - 1) << CN_UFT_RECORD_MAGIC_AT)
#define PLAIN_WORD ((uint64_t)CN_UFT_RECORD_MAGIC << CN_UFT_RECORD_MAGIC_AT)

/* A column being filled. All but the payload are allocated for the longest chunk. */
struct encode_column {
    uint8_t *bytes;
    size_t len;
};

struct cn_uft_packer {
    struct cn_uft_predictor predictor;
    uint64_t words[CN_UFT_PICK_WORD + CN_UFT_PACKED_WORDS_MAX]; /* by pick */
    uint16_t slots[SLOT_COUNT]; /* picks by the hash of their word; 0 is free */
    uint8_t choices[ITEMS_MAX], times[ITEMS_MAX]; /* one byte an item; packed later */
    struct encode_column wide, picks, lengths, payload;
    size_t payload_capacity;
    uint64_t last_ns; /* of the last record */
    uint64_t unpacked_len;
    struct cn_uft_packed_lead lead; /* of the chunk being filled */
    struct cn_compressor *compressor;
    uint8_t *body, *chunk;
    size_t body_capacity, chunk_capacity;
    uint8_t method;
};

static void put_u8(struct encode_column *column, uint8_t value)
{
    column->bytes[column->len++] = value;
}

static void put_number(struct encode_column *column, uint32_t value)
{
    while (value >= 0x80) {
        put_u8(column, (uint8_t)(value | 0x80));
        value >>= 7;
    }
    put_u8(column, (uint8_t)value);
}

/* Most recordings have no payload, so this column grows as needed. */
static void put_payload(struct cn_uft_packer *packer, struct cn_bytes bytes)
{
    struct encode_column *column = &packer->payload;
    column->bytes =
        cn_grow_to(column->bytes, column->len + bytes.len, &packer->payload_capacity, 1);
    if (bytes.len)
        memcpy(column->bytes + column->len, bytes.ptr, bytes.len);
    column->len += bytes.len;
}

static size_t slot_of(uint64_t word)
{
    return (size_t)((word * CN_UFT_HASH_FACTOR) >> (64 - SLOT_BITS));
}

static uint32_t add_word(struct cn_uft_packer *packer, uint64_t word, size_t slot)
{
    uint32_t pick = CN_UFT_PICK_WORD + packer->lead.word_count++;

    packer->words[pick] = word;
    packer->slots[slot] = (uint16_t)pick;
    return pick;
}

static uint32_t pick_of_word(struct cn_uft_packer *packer, uint64_t word)
{
    size_t slot = slot_of(word);

    while (packer->slots[slot] && packer->words[packer->slots[slot]] != word)
        slot = (slot + 1) & (SLOT_COUNT - 1);
    if (packer->slots[slot])
        return packer->slots[slot];
    return add_word(packer, word, slot);
}

/* Start a chunk with the functions that are open now. A function that is open twice has
 * two picks; either may be used later. */
static void begin_chunk(struct cn_uft_packer *packer)
{
    uint32_t depth = packer->predictor.depth;

    packer->wide.len = packer->picks.len = packer->lengths.len = packer->payload.len = 0;
    memset(packer->slots, 0, sizeof(packer->slots));
    packer->lead = (struct cn_uft_packed_lead){
        .version = CN_UFT_PACKED_VERSION,
        .flags = packer->lead.flags,
        .first_ns = UINT64_MAX,
        .start_ns = packer->last_ns,
        .unpacked_off = packer->unpacked_len,
        .depth = (uint16_t)depth,
    };
    cn_uft_predictor_begin(&packer->predictor, depth);
    for (uint32_t i = 0; i < depth; i++) {
        size_t slot = slot_of(packer->predictor.frames[i].word);

        while (packer->slots[slot])
            slot = (slot + 1) & (SLOT_COUNT - 1);
        (void)add_word(packer, packer->predictor.frames[i].word, slot);
    }
}

struct cn_uft_packer *cn_uft_packer_new(bool is_big_endian, enum cn_compression method,
                                        int level)
{
    struct cn_uft_packer *packer = cn_alloc(1, sizeof(*packer));

    packer->method = (uint8_t)method;
    packer->lead.flags = is_big_endian ? CN_UFT_PACKED_BIG_ENDIAN : 0;
    packer->compressor = cn_compressor_new(method, level);
    packer->wide.bytes = cn_alloc(ITEMS_MAX, WIDE_MAX);
    packer->picks.bytes = cn_alloc(ITEMS_MAX, PICKS_MAX);
    packer->lengths.bytes = cn_alloc(ITEMS_MAX, LENGTH_MAX);
    for (uint32_t i = 0; i < CN_UFT_PICK_WORD; i++)
        packer->words[i] = UINT64_MAX; /* matches no record: its magic is wrong */
    begin_chunk(packer);
    return packer;
}

void cn_uft_packer_resume(struct cn_uft_packer *packer, uint64_t unpacked_len)
{
    packer->unpacked_len = packer->lead.unpacked_off = unpacked_len;
}

uint64_t cn_uft_packer_unpacked_len(const struct cn_uft_packer *packer)
{
    return packer->unpacked_len;
}

void cn_uft_packer_free(struct cn_uft_packer *packer)
{
    if (!packer)
        return;
    free(packer->wide.bytes);
    free(packer->picks.bytes);
    free(packer->lengths.bytes);
    free(packer->payload.bytes);
    free(packer->body);
    free(packer->chunk);
    cn_compressor_free(packer->compressor);
    free(packer);
}

bool cn_uft_packer_is_full(const struct cn_uft_packer *packer)
{
    return packer->lead.item_count == ITEMS_MAX ||
           packer->lead.word_count == CN_UFT_PACKED_WORDS_MAX ||
           packer->payload.len > CN_UFT_PACKED_PAYLOAD_MAX - CN_UFT_PACKED_BYTES_MAX;
}

/* Store a time difference that needs more than one byte; returns the first. */
static uint8_t put_long_time(struct encode_column *wide, uint64_t delta_ns)
{
    static const uint8_t lens[] = {2, 3, 4, 6};
    uint64_t after_ns = delta_ns - CN_UFT_TIME_SHORT_END;
    uint8_t bytes[8], i = 0;

    if (after_ns >> 8 < CN_UFT_TIME_LONG_END - CN_UFT_TIME_SHORT_END) {
        put_u8(wide, (uint8_t)after_ns);
        return (uint8_t)(CN_UFT_TIME_SHORT_END + (after_ns >> 8));
    }
    if (0 - delta_ns <= UINT8_MAX + 1) {
        put_u8(wide, (uint8_t)(0 - delta_ns - 1));
        return CN_UFT_TIME_BACK;
    }
    while (i < sizeof(lens) && delta_ns >> (8 * lens[i]))
        i++;
    size_t len = i < sizeof(lens) ? lens[i] : sizeof(delta_ns);
    cn_u64_put(bytes, delta_ns);
    memcpy(wide->bytes + wide->len, bytes, len);
    wide->len += len;
    return (uint8_t)(CN_UFT_TIME_2 + i);
}

/* Store the depth of a call if it is not the expected one; true if it was stored. */
static bool correct_depth(struct cn_uft_packer *packer, uint32_t depth)
{
    if (packer->predictor.depth == depth)
        return false;
    put_number(&packer->picks, CN_UFT_PICK_DEPTH);
    put_number(&packer->picks, depth);
    cn_uft_predictor_move(&packer->predictor, depth);
    return true;
}

/* Which of the predicted picks this one is; without branches. */
static inline unsigned find_choice(const struct cn_uft_prediction *prediction,
                                   uint32_t pick)
{
    unsigned past_first = prediction->picks[0] != pick;
    unsigned past_second = past_first & (prediction->picks[1] != pick);

    return past_first + past_second + (past_second & (prediction->picks[2] != pick));
}

static inline void put_pick(struct cn_uft_packer *packer, uint32_t pick,
                            bool is_corrected)
{
    struct cn_uft_prediction *prediction = cn_uft_predictor_here(&packer->predictor);
    unsigned choice = is_corrected ? CN_UFT_CHOICE_NONE : find_choice(prediction, pick);

    packer->choices[packer->lead.item_count++] = (uint8_t)choice;
    if (choice == CN_UFT_CHOICE_NONE)
        put_number(&packer->picks, pick);
    cn_uft_prediction_refresh(prediction, choice, pick);
}

/* State that changes with each call. Writes to the columns, which are bytes, may alias
 * anything in memory; as members of the packer these would be reloaded after each
 * write. */
struct encode_run {
    uint32_t item, depth, exit_count;
    uint64_t last_ns;
    uint64_t min_ns, max_ns; /* without the last call; changed only where times jump */
};

static struct encode_run begin_run(const struct cn_uft_packer *packer, uint64_t time_ns)
{
    const struct cn_uft_packed_lead *lead = &packer->lead;

    return (struct encode_run){
        .item = lead->item_count,
        .depth = packer->predictor.depth,
        .last_ns = packer->last_ns,
        .min_ns = time_ns < lead->first_ns ? time_ns : lead->first_ns,
        .max_ns = lead->last_ns,
    };
}

static void end_run(struct cn_uft_packer *packer, const struct encode_run *run)
{
    struct cn_uft_packed_lead *lead = &packer->lead;
    uint32_t count = run->item - lead->item_count;

    if (count == 0)
        return;
    lead->item_count = run->item;
    lead->exit_count += run->exit_count;
    lead->enter_count += count - run->exit_count;
    lead->first_ns = run->min_ns;
    lead->last_ns = run->last_ns > run->max_ns ? run->last_ns : run->max_ns;
    packer->predictor.depth = run->depth;
    packer->last_ns = run->last_ns;
    packer->unpacked_len += count * (uint64_t)cn_uft_record_size;
}

/* A time that is not shortly after the last one. */
static uint8_t run_long_time(struct cn_uft_packer *packer, struct encode_run *run,
                             uint64_t time_ns)
{
    if (time_ns < run->min_ns)
        run->min_ns = time_ns;
    if (time_ns < run->last_ns && run->last_ns > run->max_ns)
        run->max_ns = run->last_ns;
    return put_long_time(&packer->wide, time_ns - run->last_ns);
}

/* The pick is not the first prediction. */
static unsigned run_other_pick(struct cn_uft_packer *packer,
                               struct cn_uft_prediction *prediction, uint32_t pick)
{
    unsigned choice = find_choice(prediction, pick);

    cn_uft_prediction_refresh(prediction, choice, pick);
    if (choice == CN_UFT_CHOICE_NONE)
        put_number(&packer->picks, pick);
    return choice;
}

/* Add a call without payload, nested as expected. There is no branch on entry or exit,
 * which would be mispredicted. False, with nothing changed, when the call is not of this
 * kind. */
static inline bool run_call(struct cn_uft_packer *packer, struct encode_run *run,
                            uint64_t time_ns, uint64_t word)
{
    struct cn_uft_frame *frames = packer->predictor.frames;
    struct cn_uft_frame *top = &frames[cn_uft_depth_below(run->depth)];
    struct cn_uft_prediction *prediction =
        cn_uft_predictor_at(&packer->predictor, top->key);
    uint64_t entry_word = word & ~(CN_UFT_DEPTH_MASK | CN_UFT_EXIT);
    uint64_t delta_ns = time_ns - run->last_ns;
    uint32_t depth = (uint32_t)cn_bits(word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS);
    uint32_t pick = packer->slots[slot_of(entry_word)];
    uint32_t is_exit = word & CN_UFT_EXIT;
    uint64_t exit_mask = 0 - (uint64_t)is_exit;

    if ((word & PLAIN_MASK) != PLAIN_WORD || packer->words[pick] != entry_word ||
        run->depth != ((depth + is_exit) & (CN_UFT_PACKED_DEPTH_MAX - 1)) ||
        ((top->word ^ entry_word) & exit_mask))
        return false;
    pick &= (uint32_t)~exit_mask; /* CN_UFT_PICK_EXIT is 0 */
    packer->choices[run->item] = prediction->picks[0] == pick
                                     ? 0
                                     : (uint8_t)run_other_pick(packer, prediction, pick);
    packer->times[run->item] = delta_ns < CN_UFT_TIME_SHORT_END
                                   ? (uint8_t)delta_ns
                                   : run_long_time(packer, run, time_ns);
    cn_uft_frame_call(frames, top, run->depth, pick, entry_word, is_exit);
    run->last_ns = time_ns;
    run->depth = (depth + 1 - is_exit) & (CN_UFT_PACKED_DEPTH_MAX - 1);
    run->exit_count += is_exit;
    run->item++;
    return true;
}

static void add_exit(struct cn_uft_packer *packer, uint64_t word, uint32_t depth)
{
    struct cn_uft_predictor *predictor = &packer->predictor;
    bool is_corrected = correct_depth(packer, cn_uft_depth_above(depth));
    uint64_t more = word & CN_UFT_MORE_MASK;
    uint32_t pick = more ? CN_UFT_PICK_EXIT_MORE : CN_UFT_PICK_EXIT;

    if (cn_uft_exit_word(predictor->frames[depth].word, more) != word)
        pick = pick_of_word(packer, word);
    put_pick(packer, pick, is_corrected);
    predictor->depth = depth;
}

static void add_entry(struct cn_uft_packer *packer, uint64_t word, uint32_t depth)
{
    bool is_corrected = correct_depth(packer, depth);
    uint32_t pick = pick_of_word(packer, word);

    put_pick(packer, pick, is_corrected);
    cn_uft_predictor_call(&packer->predictor, pick, word, false);
}

/* Add any record that run_call() refuses. */
static void add_unexpected(struct cn_uft_packer *packer, uint64_t time_ns, uint64_t word)
{
    struct cn_uft_packed_lead *lead = &packer->lead;
    uint32_t depth = (uint32_t)cn_bits(word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS), pick;
    unsigned type = (unsigned)cn_bits(word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS);
    uint64_t delta_ns = time_ns - packer->last_ns;

    packer->times[lead->item_count] = delta_ns < CN_UFT_TIME_SHORT_END
                                          ? (uint8_t)delta_ns
                                          : put_long_time(&packer->wide, delta_ns);
    packer->last_ns = time_ns;
    if (type == CN_UFT_LOST) {
        lead->loss_count++;
        if (!cn_u64_add(lead->lost_count, word >> CN_UFT_ADDRESS_AT, &lead->lost_count))
            lead->lost_count = UINT64_MAX;
    } else {
        lead->first_ns = time_ns < lead->first_ns ? time_ns : lead->first_ns;
        lead->last_ns = time_ns > lead->last_ns ? time_ns : lead->last_ns;
    }
    lead->enter_count += type == CN_UFT_ENTRY;
    lead->exit_count += type == CN_UFT_EXIT;
    lead->event_count += type == CN_UFT_EVENT;
    if (type == CN_UFT_EXIT) {
        add_exit(packer, word & ~CN_UFT_DEPTH_MASK, depth);
    } else if (type == CN_UFT_ENTRY) {
        add_entry(packer, word & ~CN_UFT_DEPTH_MASK, depth);
    } else {
        pick = pick_of_word(packer, word);
        put_pick(packer, pick, false);
        cn_uft_predictor_note(&packer->predictor, pick);
    }
    packer->unpacked_len += cn_uft_record_size;
}

void cn_uft_packer_add(struct cn_uft_packer *packer, uint64_t time_ns, uint64_t word,
                       struct cn_bytes payload)
{
    struct encode_run run = begin_run(packer, time_ns);

    assert(payload.len == 0 || word & CN_UFT_MORE_MASK);
    if (run_call(packer, &run, time_ns, word)) {
        end_run(packer, &run);
        return;
    }
    add_unexpected(packer, time_ns, word);
    if (word & CN_UFT_MORE_MASK) {
        put_number(&packer->lengths, (uint32_t)payload.len);
        put_payload(packer, payload);
        packer->unpacked_len += payload.len;
    }
}

size_t cn_uft_packer_add_calls(struct cn_uft_packer *packer, struct cn_bytes records)
{
    size_t room = ITEMS_MAX - packer->lead.item_count;
    size_t count = records.len / cn_uft_record_size, i;
    struct encode_run run;

    if (packer->lead.flags & CN_UFT_PACKED_BIG_ENDIAN || count == 0)
        return 0;
    if (count > room)
        count = room;
    run = begin_run(packer, cn_u64_get(records.ptr));
    for (i = 0; i < count; i++) {
        const uint8_t *at = records.ptr + i * cn_uft_record_size;

        if (!run_call(packer, &run, cn_u64_get(at), cn_u64_get(at + sizeof(uint64_t))))
            break;
    }
    end_run(packer, &run);
    return i * cn_uft_record_size;
}

void cn_uft_packer_add_verbatim(struct cn_uft_packer *packer, struct cn_bytes bytes)
{
    assert(!cn_uft_packer_is_full(packer) && bytes.len <= CN_UFT_PACKED_BYTES_MAX);
    packer->times[packer->lead.item_count] = 0;
    packer->choices[packer->lead.item_count++] = CN_UFT_CHOICE_NONE;
    put_number(&packer->picks, CN_UFT_PICK_VERBATIM);
    put_number(&packer->lengths, (uint32_t)bytes.len);
    put_payload(packer, bytes);
    packer->unpacked_len += bytes.len;
}

static size_t gather_body(struct cn_uft_packer *packer)
{
    const struct encode_column *columns[] = {&packer->wide, &packer->picks,
                                             &packer->lengths, &packer->payload};
    size_t len =
        packer->lead.word_count * sizeof(uint64_t) +
        2 * (size_t)packer->lead.item_count; /* upper limit for choices and times */
    uint8_t *end;

    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
        len += columns[i]->len;
    packer->body = cn_grow_to(packer->body, len, &packer->body_capacity, 1);
    end = packer->body;
    for (uint32_t i = 0; i < packer->lead.word_count; i++, end += sizeof(uint64_t))
        cn_u64_put(end, packer->words[CN_UFT_PICK_WORD + i]);
    /* Four choices a byte, the first in the lowest bits. */
    for (uint32_t i = packer->lead.item_count; i % CN_UFT_CHOICES_A_BYTE; i++)
        packer->choices[i] = 0;
    for (uint32_t i = 0; i < packer->lead.item_count; i += CN_UFT_CHOICES_A_BYTE) {
        const uint8_t *four = packer->choices + i;

        *end++ = (uint8_t)(four[0] | four[1] << 2 | four[2] << 4 | four[3] << 6);
    }
    memcpy(end, packer->times, packer->lead.item_count);
    end += packer->lead.item_count;
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        if (columns[i]->len)
            memcpy(end, columns[i]->bytes, columns[i]->len);
        end += columns[i]->len;
    }
    return (size_t)(end - packer->body);
}

/* Compress the body after the lead. Copy it instead when it does not shrink, or shrinks
 * so much that readers would refuse it as a decompression bomb. */
static bool store_body(struct cn_uft_packer *packer, size_t body_len, size_t *stored_len,
                       struct cn_error *err)
{
    size_t bound = cn_compressor_bound(packer->compressor, body_len);

    packer->chunk = cn_grow_to(packer->chunk, cn_uft_packed_lead_size + bound,
                               &packer->chunk_capacity, 1);
    uint8_t *to = packer->chunk + cn_uft_packed_lead_size;
    packer->lead.compression = packer->method;
    if (!cn_compress(packer->compressor, (struct cn_bytes){packer->body, body_len}, to,
                     stored_len, err))
        return false;
    if (*stored_len < body_len && body_len / CN_UFT_PACKED_RATIO_MAX < *stored_len)
        return true;
    packer->lead.compression = CN_COMPRESSION_NONE;
    memcpy(to, packer->body, body_len);
    *stored_len = body_len;
    return true;
}

bool cn_uft_packer_take(struct cn_uft_packer *packer, struct cn_bytes *chunk,
                        struct cn_error *err)
{
    struct cn_uft_packed_lead *lead = &packer->lead;
    size_t stored_len;

    lead->unpacked_len = (uint32_t)(packer->unpacked_len - lead->unpacked_off);
    lead->wide_len = (uint32_t)packer->wide.len;
    lead->picks_len = (uint32_t)packer->picks.len;
    lead->lengths_len = (uint32_t)packer->lengths.len;
    lead->payload_len = (uint32_t)packer->payload.len;
    if (!store_body(packer, gather_body(packer), &stored_len, err))
        return false;
    lead->check = 0;
    cn_uft_packed_lead_encode(lead, packer->chunk);
    lead->check = cn_crc32((struct cn_bytes){packer->chunk, cn_uft_packed_lead_size});
    cn_uft_packed_lead_encode(lead, packer->chunk);
    *chunk = (struct cn_bytes){packer->chunk, cn_uft_packed_lead_size + stored_len};
    begin_chunk(packer);
    return true;
}
