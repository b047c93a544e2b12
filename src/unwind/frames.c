#include "unwind/frames.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

enum { VERSION_MAX = 4, LETTERS_MAX = 32, CIE_MAX = 1 << 16 };
#define EXTENDED UINT32_MAX
#define NO_CIE   UINT32_MAX

/* The head of an entry: its length, and its id or pointer to a CIE. */
struct frames_entry {
    struct cn_bytes rest; /* after the id */
    uint64_t rest_off;    /* in the section */
    uint64_t id_off, id;
    size_t len; /* with the length itself */
    bool is_long;
};

static bool entry_at(const struct cn_unwind_frames *frames, uint64_t off,
                     struct frames_entry *out)
{
    struct cn_bytes from, rest, body;
    uint64_t len, id;
    unsigned id_len = 4;

    if (!cn_bytes_from(frames->part.bytes, off, &from))
        return false;
    rest = from;
    if (!cn_unwind_int_take(&rest, 4, false, &len))
        return false;
    if (len == EXTENDED) {
        if (!cn_unwind_int_take(&rest, 8, false, &len))
            return false;
        id_len = 8;
    }
    if (len == 0) { /* an end */
        *out = (struct frames_entry){.len = from.len - rest.len};
        return true;
    }
    if (!cn_bytes_slice(rest, 0, len, &body))
        return false;
    *out = (struct frames_entry){.id_off = off + (from.len - rest.len),
                                 .is_long = id_len == 8};
    out->len = from.len - rest.len + body.len;
    if (!cn_unwind_int_take(&body, id_len, false, &id))
        return false;
    out->id = id;
    out->rest = body;
    out->rest_off = out->id_off + id_len;
    return true;
}

static bool is_cie(const struct cn_unwind_frames *frames,
                   const struct frames_entry *entry)
{
    if (frames->is_debug)
        return entry->id == (entry->is_long ? UINT64_MAX : UINT32_MAX);
    return entry->id == 0;
}

/* What the letters of the augmentation say. */
static bool read_augmentation(struct cn_unwind_cie *cie, const char *letters,
                              struct cn_bytes *rest)
{
    struct cn_bytes data, byte;
    uint64_t len, pointer;

    if (letters[0] == '\0')
        return true;
    if (letters[0] != 'z' || !cn_unwind_uleb_take(rest, &len) || len > rest->len ||
        !cn_bytes_take(rest, (size_t)len, &data))
        return false;
    cie->has_augmentation = true;
    for (const char *letter = letters + 1; *letter; letter++) {
        switch (*letter) {
        case 'R':
            if (!cn_bytes_take(&data, 1, &byte))
                return false;
            cie->encoding = byte.ptr[0];
            break;
        case 'P':
            /* Where the personality is does not matter, how long its pointer is does. */
            if (!cn_bytes_take(&data, 1, &byte) ||
                !cn_unwind_pointer_take(&data, byte.ptr[0] & CN_EH_FORM, 0, 0, &pointer))
                return false;
            break;
        case 'L':
            if (!cn_bytes_take(&data, 1, &byte))
                return false;
            break;
        case 'S':
            cie->is_signal = true;
            break;
        default: /* B and G of aarch64 have no data; of others the length is known */
            break;
        }
    }
    return true;
}

static bool read_cie(struct cn_unwind_cie *cie, const struct frames_entry *entry)
{
    struct cn_bytes rest = entry->rest, version, byte, beginning = rest;
    uint64_t number;

    if (beginning.len > LETTERS_MAX)
        beginning.len = LETTERS_MAX;
    const char *letters = cn_bytes_string(beginning, 1);
    if (!letters || !cn_bytes_take(&rest, 1, &version) || version.ptr[0] == 0 ||
        version.ptr[0] > VERSION_MAX || !cn_bytes_from(rest, strlen(letters) + 1, &rest))
        return false;
    /* The sizes of addresses and of segment selectors. */
    if (version.ptr[0] == 4 &&
        (!cn_bytes_take(&rest, 2, &byte) || byte.ptr[0] != 8 || byte.ptr[1] != 0))
        return false;
    if (!cn_unwind_uleb_take(&rest, &cie->code_align) ||
        !cn_unwind_sleb_take(&rest, &cie->data_align))
        return false;
    if (version.ptr[0] == 1) {
        if (!cn_bytes_take(&rest, 1, &byte))
            return false;
        number = byte.ptr[0];
    } else if (!cn_unwind_uleb_take(&rest, &number)) {
        return false;
    }
    if (number >= CN_UNWIND_REGISTER_MAX || !read_augmentation(cie, letters, &rest) ||
        rest.len > CN_UNWIND_PROGRAM_MAX)
        return false;
    cie->return_register = (uint8_t)number;
    cie->program = rest;
    return true;
}

/* The index of the CIE at an offset, which is read once. */
static uint32_t cie_at(struct cn_unwind_frames *frames, uint64_t off)
{
    uint32_t at = cn_map_find(&frames->cie_of, off, NO_CIE);
    struct cn_unwind_cie *cie;
    struct frames_entry entry;

    if (at != NO_CIE || frames->cie_count == CIE_MAX)
        return at;
    at = *cn_map_at(&frames->cie_of, off, (uint32_t)frames->cie_count);
    CN_GROW(frames->cies, frames->cie_count, frames->cie_capacity);
    cie = &frames->cies[frames->cie_count++];
    *cie = (struct cn_unwind_cie){0};
    cie->is_valid = entry_at(frames, off, &entry) && entry.rest.len > 0 &&
                    is_cie(frames, &entry) && read_cie(cie, &entry);
    return at;
}

static bool read_fde(struct cn_unwind_frames *frames, const struct frames_entry *entry,
                     struct cn_unwind_fde *out)
{
    struct cn_bytes rest = entry->rest, skipped;
    uint64_t begin, len, augmentation_len;

    if (!frames->is_debug && entry->id > entry->id_off)
        return false;
    uint32_t at =
        cie_at(frames, frames->is_debug ? entry->id : entry->id_off - entry->id);
    if (at == NO_CIE)
        return false;
    const struct cn_unwind_cie *cie = &frames->cies[at];
    if (!cie->is_valid ||
        !cn_unwind_pointer_take(&rest, cie->encoding,
                                frames->part.address + entry->rest_off, 0, &begin) ||
        !cn_unwind_pointer_take(&rest, cie->encoding & CN_EH_FORM, 0, 0, &len))
        return false;
    if (cie->has_augmentation &&
        (!cn_unwind_uleb_take(&rest, &augmentation_len) || augmentation_len > rest.len ||
         !cn_bytes_take(&rest, (size_t)augmentation_len, &skipped)))
        return false;
    *out = (struct cn_unwind_fde){.begin = begin, .program = rest, .cie = at};
    out->program_address =
        frames->part.address + entry->rest_off + (entry->rest.len - rest.len);
    return cn_u64_add(begin, len, &out->end) && len > 0;
}

void cn_unwind_frames_read(struct cn_unwind_frames *frames, struct cn_unwind_part part,
                           bool is_debug)
{
    struct frames_entry entry;

    *frames = (struct cn_unwind_frames){.part = part, .is_debug = is_debug};
    if (part.bytes.len > CN_UNWIND_FRAMES_LEN_MAX)
        return;
    for (uint64_t off = 0; entry_at(frames, off, &entry); off += entry.len) {
        struct cn_unwind_fde fde;

        if (entry.rest.len == 0 || is_cie(frames, &entry) ||
            !read_fde(frames, &entry, &fde))
            continue;
        CN_PUSH(frames->fdes, frames->fde_count, frames->fde_capacity, fde);
    }
    CN_SORT(frames->fdes, frames->fde_count, CN_UP(struct cn_unwind_fde, begin),
            CN_UP(struct cn_unwind_fde, program_address));
}

void cn_unwind_frames_done(struct cn_unwind_frames *frames)
{
    cn_map_done(&frames->cie_of);
    free(frames->cies);
    free(frames->fdes);
    *frames = (struct cn_unwind_frames){0};
}
