#include "formats/exchange/perf/stored_names.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "formats/exchange/perf/format.h"

/* Addresses between two frames: callers are looked up by the address before. */
enum { SPACING = 16, MIDDLE = 8 };
#define UNKNOWN UINT32_MAX

void cn_stored_names_done(struct cn_stored_names *names)
{
    cn_map_done(&names->number_of);
    cn_arena_done(&names->arena);
    free(names->frames);
    *names = (struct cn_stored_names){0};
}

static uint64_t address_of(enum cn_language language, uint64_t number)
{
    return CN_STORED_ADDRESS_BASE + (uint64_t)language * CN_STORED_LANGUAGE_LEN +
           number * SPACING + MIDDLE;
}

static bool is_equal(const struct cn_stored_frame *a, const struct cn_stored_frame *b)
{
    return a->line == b->line && a->first_line == b->first_line &&
           a->language == b->language && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0;
}

/* A copy of the text, in `room` if it must be cut. */
static const char *cut(const char *text, char room[static CN_STORED_TEXT_MAX])
{
    if (!text || strnlen(text, CN_STORED_TEXT_MAX) < CN_STORED_TEXT_MAX)
        return text ? text : "";
    memcpy(room, text, CN_STORED_TEXT_MAX - 1);
    room[CN_STORED_TEXT_MAX - 1] = '\0';
    return room;
}

static uint64_t hash_of(const struct cn_stored_frame *frame)
{
    uint64_t key[] = {
        frame->line,
        frame->first_line,
        frame->language,
        XXH3_64bits(frame->function, strlen(frame->function)),
        XXH3_64bits(frame->file, strlen(frame->file)),
    };

    return XXH3_64bits(key, sizeof(key));
}

/* The number of a frame, added if it is new and there is room; UNKNOWN if there is not. */
static uint32_t number_of(struct cn_stored_names *names,
                          const struct cn_stored_frame *frame, size_t most)
{
    struct cn_stored_frame copy = *frame;
    uint64_t key = hash_of(frame);
    uint32_t at;

    while ((at = cn_map_find(&names->number_of, key, UNKNOWN)) != UNKNOWN) {
        if (is_equal(&names->frames[at], frame))
            return at;
        key++;
    }
    if (names->count >= most)
        return UNKNOWN;
    *cn_map_at(&names->number_of, key, 0) = (uint32_t)names->count;
    copy.function = cn_arena_strdup(&names->arena, frame->function);
    copy.file = cn_arena_strdup(&names->arena, frame->file);
    CN_PUSH(names->frames, names->count, names->capacity, copy);
    return (uint32_t)names->count - 1;
}

uint64_t cn_stored_names_address(struct cn_stored_names *names,
                                 const struct cn_stored_frame *frame)
{
    char function[CN_STORED_TEXT_MAX], file[CN_STORED_TEXT_MAX];
    struct cn_stored_frame wanted = *frame;

    if ((unsigned)wanted.language >= CN_LANGUAGE_COUNT)
        wanted.language = CN_LANGUAGE_NATIVE;
    wanted.function = cut(frame->function, function);
    wanted.file = cut(frame->file, file);
    uint32_t at = number_of(names, &wanted, CN_STORED_FRAMES_MAX);
    if (at == UNKNOWN)
        at = number_of(names,
                       &(struct cn_stored_frame){.function = "[too many functions]",
                                                 .file = "",
                                                 .language = wanted.language},
                       SIZE_MAX);
    return address_of(wanted.language, at);
}

bool cn_stored_names_encode(struct cn_stored_names *names, struct cn_text *record)
{
    if (names->encoded_count == names->count)
        return false;
    const struct cn_stored_frame *frame = &names->frames[names->encoded_count];
    size_t text_len = strlen(frame->function) + strlen(frame->file) + 2;
    size_t padded = (size_t)cn_align_up(text_len, 8);
    struct cn_perf_stored head = {
        .magic = CN_PERF_STORED_MAGIC,
        .address = address_of(frame->language, names->encoded_count++),
        .line = frame->line,
        .first_line = frame->first_line,
    };
    struct cn_perf_head outer = {
        .type = CN_PERF_HEADER_EVENT_TYPE,
        .size = (uint16_t)(cn_perf_head_size + cn_perf_stored_size + padded),
    };

    cn_text_clear(record);
    cn_perf_head_encode(&outer, (uint8_t *)cn_text_room(record, cn_perf_head_size));
    cn_text_advance(record, cn_perf_head_size);
    cn_perf_stored_encode(&head, (uint8_t *)cn_text_room(record, cn_perf_stored_size));
    cn_text_advance(record, cn_perf_stored_size);
    cn_text_add(record, frame->function, strlen(frame->function) + 1);
    cn_text_add(record, frame->file, strlen(frame->file) + 1);
    cn_text_fill(record, '\0', padded - text_len);
    return true;
}

void cn_stored_names_decode(struct cn_stored_names *names, struct cn_bytes body)
{
    struct cn_stored_frame frame = {0};
    struct cn_perf_stored head;

    if (!cn_perf_stored_decode(body, &head) || head.magic != CN_PERF_STORED_MAGIC ||
        head.address < CN_STORED_ADDRESS_BASE || head.address >= CN_STORED_ADDRESS_END)
        return;
    frame.function = cn_bytes_string(body, cn_perf_stored_size);
    if (!frame.function)
        return;
    frame.file = cn_bytes_string(body, cn_perf_stored_size + strlen(frame.function) + 1);
    if (!frame.file)
        return;
    frame.function = cn_arena_strdup(&names->arena, frame.function);
    frame.file = cn_arena_strdup(&names->arena, frame.file);
    frame.line = head.line;
    frame.first_line = head.first_line;
    frame.language = cn_stored_language(head.address);
    *cn_map_at(&names->number_of, head.address / SPACING, 0) = (uint32_t)names->count;
    CN_PUSH(names->frames, names->count, names->capacity, frame);
}

const struct cn_stored_frame *cn_stored_names_find(const struct cn_stored_names *names,
                                                   uint64_t address)
{
    uint32_t at = cn_map_find(&names->number_of, address / SPACING, UNKNOWN);

    return at != UNKNOWN ? &names->frames[at] : NULL;
}
