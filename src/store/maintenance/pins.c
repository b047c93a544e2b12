#include "store/maintenance/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/sort.h"
#include "base/text.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/segments.h"

#define PINS_NAME      "pinned"
#define PINS_LOCK_NAME "pinned.lock"
enum { ID_LEN = 32 };

static bool take_lock(const char *base, int *lock, struct cn_error *err)
{
    char *path = cn_strprintf("%s/" PINS_LOCK_NAME, base);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), code = -1;
    bool ok = fd >= 0;

    while (ok && (code = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
        continue;
    ok = (ok && code == 0) || cn_fail_errno(err, "%s", path);
    if (ok)
        *lock = fd;
    else if (fd >= 0)
        (void)close(fd);
    free(path);
    return ok;
}

static uint64_t read_half(const char *digits)
{
    char text[ID_LEN / 2 + 1] = "";

    memcpy(text, digits, ID_LEN / 2);
    return strtoull(text, NULL, 16);
}

static void read_lines(struct cn_pins *pins, const char *line)
{
    while (*line) {
        size_t len = strcspn(line, "\n");

        if (len == ID_LEN && cn_hex_begins(line, ID_LEN)) {
            struct cn_pin pin = {read_half(line), read_half(line + ID_LEN / 2)};

            CN_PUSH(pins->list, pins->count, pins->capacity, pin);
        }
        line += len + (line[len] == '\n');
    }
    CN_SORT(pins->list, pins->count, CN_UP(struct cn_pin, id_high),
            CN_UP(struct cn_pin, id_low));
}

bool cn_pins_open(struct cn_pins *pins, const char *base, struct cn_error *err)
{
    char *path = cn_strprintf("%s/" PINS_NAME, base);
    struct cn_text text = {0};
    struct cn_file file = {0};

    *pins = (struct cn_pins){.lock = -1};
    bool ok = take_lock(base, &pins->lock, err) &&
              (access(path, F_OK) != 0 || cn_file_open(&file, path, err));
    cn_text_add(&text, (const char *)file.bytes.ptr, file.bytes.len);
    read_lines(pins, cn_text_str(&text));
    cn_file_close(&file);
    cn_text_done(&text);
    free(path);
    if (!ok)
        cn_pins_close(pins);
    return ok;
}

void cn_pins_close(struct cn_pins *pins)
{
    free(pins->list);
    if (pins->lock >= 0)
        (void)close(pins->lock);
    *pins = (struct cn_pins){.lock = -1};
}

/* The index of the first pin that is not before this id. */
static size_t find(const struct cn_pins *pins, uint64_t high, uint64_t low)
{
    size_t begin = 0, end = pins->count;

    while (begin < end) {
        size_t mid = begin + (end - begin) / 2;
        const struct cn_pin *pin = &pins->list[mid];

        if (pin->id_high < high || (pin->id_high == high && pin->id_low < low))
            begin = mid + 1;
        else
            end = mid;
    }
    return begin;
}

bool cn_pins_have(const struct cn_pins *pins, uint64_t id_high, uint64_t id_low)
{
    size_t at = find(pins, id_high, id_low);

    return at < pins->count && pins->list[at].id_high == id_high &&
           pins->list[at].id_low == id_low;
}

static bool write_pins(const struct cn_pins *pins, const char *base,
                       const struct cn_pin *without, const struct cn_pin *with,
                       struct cn_error *err)
{
    struct cn_text text = {0};

    for (size_t i = 0; i < pins->count; i++)
        if (!without || pins->list[i].id_high != without->id_high ||
            pins->list[i].id_low != without->id_low)
            cn_text_printf(&text, "%016" PRIx64 "%016" PRIx64 "\n", pins->list[i].id_high,
                           pins->list[i].id_low);
    if (with)
        cn_text_printf(&text, "%016" PRIx64 "%016" PRIx64 "\n", with->id_high,
                       with->id_low);
    bool ok = cn_disk_replace(&cn_disk_files, base, PINS_NAME, cn_text_str(&text),
                              text.len, err);
    cn_text_done(&text);
    return ok;
}

bool cn_store_pin(const char *path, uint64_t id_high, uint64_t id_low, bool is_pinned,
                  bool *is_new, struct cn_error *err)
{
    struct cn_pin pin = {id_high, id_low};
    struct cn_pins pins;

    if (!cn_segments_check_local(path, err) || !cn_segments_check_store(path, err) ||
        !cn_pins_open(&pins, path, err))
        return false;
    bool changes = cn_pins_have(&pins, id_high, id_low) != is_pinned;
    bool ok = !changes || write_pins(&pins, path, is_pinned ? NULL : &pin,
                                     is_pinned ? &pin : NULL, err);
    cn_pins_close(&pins);
    if (ok && is_new)
        *is_new = changes;
    return ok;
}
