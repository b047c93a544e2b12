#include "support/random_calls.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/uftrace/packed/predictor.h"
#include "formats/uftrace/records/reader.h"

enum { FUNCTIONS = 60, EVENT_ID = 100002, RECORD_MAX = 64 };

struct making {
    uint8_t *bytes;
    size_t len, capacity;
    uint64_t state, time_ns;
    uint64_t stack[1 << 12];
    unsigned depth, kinds;
};

uint64_t cn_random_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static unsigned below(struct making *m, unsigned limit)
{
    return (unsigned)(cn_random_next(&m->state) % limit);
}

static void put(struct making *m, const void *bytes, size_t len)
{
    memcpy(m->bytes + m->len, bytes, len);
    m->len += len;
}

static void put_record(struct making *m, uint64_t type, uint64_t address, unsigned depth,
                       bool has_more)
{
    uint64_t word = type << CN_UFT_TYPE_AT | (uint64_t)has_more << CN_UFT_MORE_AT |
                    (uint64_t)CN_UFT_RECORD_MAGIC << CN_UFT_RECORD_MAGIC_AT |
                    (uint64_t)(depth % 1024) << CN_UFT_DEPTH_AT |
                    address << CN_UFT_ADDRESS_AT;
    uint8_t bytes[cn_uft_record_size];

    if (m->kinds & CN_CALLS_BIG_ENDIAN) {
        cn_u64_be_put(bytes, m->time_ns);
        cn_u64_be_put(bytes + 8, cn_uft_word_to_be(word));
    } else {
        cn_u64_put(bytes, m->time_ns);
        cn_u64_put(bytes + 8, word);
    }
    put(m, bytes, sizeof(bytes));
}

static void put_payload(struct making *m)
{
    uint64_t value = below(m, 1000);

    put(m, &value, sizeof(value));
}

static void call_something(struct making *m)
{
    unsigned most = m->kinds & CN_CALLS_DEEP ? 1500 : 12;
    bool is_entry = m->depth == 0 || (m->depth < most && below(m, 100) < 51);
    bool has_more = (m->kinds & CN_CALLS_PAYLOADS) && below(m, 4) == 0;

    if (is_entry) {
        /* What is called depends on the caller, mostly. */
        uint64_t caller = m->depth ? m->stack[m->depth - 1] : 0;
        uint64_t address = 0x555500001000 + (caller * 7 + below(m, 3)) % FUNCTIONS * 32;

        m->stack[m->depth] = address;
        put_record(m, CN_UFT_ENTRY, address, m->depth++, has_more);
    } else {
        m->depth--;
        put_record(m, CN_UFT_EXIT, m->stack[m->depth], m->depth, has_more);
    }
    if (has_more)
        put_payload(m);
}

static void send_event(struct making *m)
{
    static const uint8_t data[24] = {0};
    uint8_t head[2];
    uint16_t len = (uint16_t)below(m, 15);

    put_record(m, CN_UFT_EVENT, EVENT_ID, 0, true);
    if (m->kinds & CN_CALLS_BIG_ENDIAN)
        cn_u16_be_put(head, len);
    else
        cn_u16_put(head, len);
    put(m, head, sizeof(head));
    put(m, data, (size_t)cn_align_up(2U + len, 8) - 2);
}

/* Depths at both ends of what a record can hold are the interesting ones. */
static unsigned some_depth(struct making *m)
{
    unsigned depth = below(m, 1024);

    return below(m, 3) == 0 ? depth : depth % 2 ? depth % 8 : 1023 - depth % 4;
}

static void do_something_odd(struct making *m)
{
    uint64_t time_ns = m->time_ns, address = 0x777700000000 + below(m, 50);
    unsigned choice = below(m, 6), depth = some_depth(m), shift = below(m, 64);

    switch (choice) {
    case 0:
        m->time_ns = 0;
        put_record(m, CN_UFT_LOST, below(m, 5000), depth, false);
        m->time_ns = time_ns;
        break;
    case 1:
        m->depth = depth % 12;
        break;
    case 2:
        m->time_ns -= below(m, 400);
        break;
    case 3:
        m->time_ns += cn_random_next(&m->state) >> shift;
        break;
    case 4:
        put_record(m, CN_UFT_EXIT, address, depth, false);
        break;
    default:
        put_record(m, CN_UFT_ENTRY, address, depth, false);
    }
}

static void write_garbage(struct making *m)
{
    uint64_t value = cn_random_next(&m->state);

    put(m, &value, 8);
}

uint8_t *cn_random_calls(size_t count, unsigned kinds, uint64_t seed, size_t *len)
{
    struct making m = {.kinds = kinds, .state = seed, .time_ns = UINT64_C(1000000000000)};
    uint8_t *bytes;

    m.capacity = (count + 1) * RECORD_MAX;
    m.bytes = cn_alloc(m.capacity, 1);
    for (size_t i = 0; i < count; i++) {
        m.time_ns += below(&m, 20) == 0 ? below(&m, 1 << 20) : 40 + below(&m, 150);
        if ((kinds & CN_CALLS_ODDITIES) && below(&m, 50) == 0)
            do_something_odd(&m);
        if ((kinds & CN_CALLS_GARBAGE) && below(&m, 90) == 0)
            write_garbage(&m);
        if ((kinds & CN_CALLS_PAYLOADS) && below(&m, 30) == 0)
            send_event(&m);
        else
            call_something(&m);
    }
    if (kinds & CN_CALLS_GARBAGE)
        put(&m, "torn", 4);
    /* Exactly as long as it is, so that reading beyond the end is noticed. */
    bytes = cn_alloc(m.len, 1);
    memcpy(bytes, m.bytes, m.len);
    free(m.bytes);
    *len = m.len;
    return bytes;
}

bool cn_random_calls_measure(void *arg, struct cn_uft_record record, struct cn_bytes rest,
                             size_t *len)
{
    (void)arg;
    *len = 8;
    if (cn_bits(record.word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS) == CN_UFT_EVENT) {
        if (rest.len < 2)
            return false;
        *len = (size_t)cn_align_up(2U + cn_u16_get(rest.ptr), 8);
    }
    return *len <= rest.len;
}
