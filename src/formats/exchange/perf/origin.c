#include "formats/exchange/perf/origin.h"

#include "base/arena.h"
#include "base/bytes/wire.h"
#include "base/text.h"
#include "formats/exchange/perf/format.h"
#include "model/origin.h"

enum { WORDS_MAX = 1 << 16, KIB = 1024, CLOCK_DATE_OFF = 8, CLOCK_DATA_LEN = 24 };

static const char *text_of(struct cn_bytes bytes, struct cn_arena *arena)
{
    const char *text = cn_bytes_string(bytes, sizeof(uint32_t));

    return text ? cn_arena_strdup(arena, text) : NULL;
}

/* Words, each with its length. */
static const char *command_of(struct cn_bytes rest, struct cn_arena *arena)
{
    struct cn_text text = {0};
    uint32_t count, len;
    struct cn_bytes word;

    if (!cn_wire_u32_take(&rest, &count))
        return NULL;
    for (uint32_t i = 0; i < count && i < WORDS_MAX; i++) {
        if (!cn_wire_u32_take(&rest, &len) || !cn_bytes_take(&rest, len, &word) ||
            !cn_bytes_string(word, 0))
            break;
        cn_text_word(&text, cn_bytes_string(word, 0));
    }
    const char *copy = text.len > 0 ? cn_arena_strdup(arena, text.chars) : NULL;
    cn_text_done(&text);
    return copy;
}

void cn_perf_origin_read(struct cn_origin *origin, uint64_t feature,
                         struct cn_bytes bytes, struct cn_arena *arena)
{
    switch (feature) {
    case CN_PERF_FEATURE_HOSTNAME:
        origin->host = text_of(bytes, arena);
        break;
    case CN_PERF_FEATURE_OS_RELEASE:
        origin->kernel = text_of(bytes, arena);
        break;
    case CN_PERF_FEATURE_VERSION: {
        const char *version = text_of(bytes, arena);

        /* perf has its version alone. */
        if (version)
            origin->writer = version[0] >= '0' && version[0] <= '9'
                                 ? cn_arena_printf(arena, "perf %s", version)
                                 : version;
        break;
    }
    case CN_PERF_FEATURE_ARCH:
        origin->machine = text_of(bytes, arena);
        break;
    case CN_PERF_FEATURE_CPU_COUNT:
        origin->processor_count = bytes.len >= 8 ? cn_u32_get(bytes.ptr + 4) : 0;
        break;
    case CN_PERF_FEATURE_CPU_DESC:
        origin->processor = text_of(bytes, arena);
        break;
    case CN_PERF_FEATURE_MEMORY:
        origin->memory_bytes = bytes.len >= 8 ? cn_u64_get(bytes.ptr) * KIB : 0;
        break;
    case CN_PERF_FEATURE_COMMAND:
        origin->command = command_of(bytes, arena);
        break;
    case CN_PERF_FEATURE_CLOCK_DATA:
        origin->start_ns =
            bytes.len >= CLOCK_DATA_LEN ? cn_u64_get(bytes.ptr + CLOCK_DATE_OFF) : 0;
        break;
    case CN_PERF_FEATURE_ORIGIN:
        cn_origin_decode(origin, bytes, arena);
        break;
    default:
        break;
    }
}
