#include "store/care/pins.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/text.h"
#include "store/care/care.h"
#include "store/segment/lock.h"

#define PINS_NAME "pinned"
enum { ID_LEN = 32, HALF_LEN = 16 };

void cn_pins_done(struct cn_pins *pins)
{
    free(pins->list);
    *pins = (struct cn_pins){0};
}

static void add(struct cn_pins *pins, struct cn_pin pin)
{
    pins->list = cn_grow(pins->list, pins->count, &pins->capacity, sizeof(*pins->list));
    pins->list[pins->count++] = pin;
}

static void read_line(struct cn_pins *pins, const char *line, size_t len)
{
    struct cn_pin pin;
    char half[HALF_LEN + 1] = {0};

    if (len != ID_LEN || strspn(line, "0123456789abcdef") < ID_LEN)
        return;
    memcpy(half, line, HALF_LEN);
    pin.id_high = strtoull(half, NULL, 16);
    memcpy(half, line + HALF_LEN, HALF_LEN);
    pin.id_low = strtoull(half, NULL, 16);
    add(pins, pin);
}

bool cn_pins_read(struct cn_pins *pins, const char *base, struct cn_error *err)
{
    struct cn_text path = {0}, text = {0};
    struct cn_file file = {0};
    bool ok = true;

    *pins = (struct cn_pins){0};
    cn_text_printf(&path, "%s/" PINS_NAME, base);
    if (access(cn_text_str(&path), F_OK) == 0)
        ok = cn_file_open(&file, cn_text_str(&path), err);
    cn_text_add(&text, (const char *)file.bytes.ptr, file.bytes.len);
    for (const char *line = cn_text_str(&text); *line;) {
        size_t len = strcspn(line, "\n");

        read_line(pins, line, len);
        line += len + (line[len] == '\n');
    }
    cn_file_close(&file);
    cn_text_done(&text);
    cn_text_done(&path);
    return ok;
}

bool cn_pins_has(const struct cn_pins *pins, uint64_t id_high, uint64_t id_low)
{
    for (size_t i = 0; i < pins->count; i++)
        if (pins->list[i].id_high == id_high && pins->list[i].id_low == id_low)
            return true;
    return false;
}

static bool write_pins(const struct cn_pins *pins, const char *base, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok;

    for (size_t i = 0; i < pins->count; i++)
        cn_text_printf(&text, "%016" PRIx64 "%016" PRIx64 "\n", pins->list[i].id_high,
                       pins->list[i].id_low);
    ok = cn_disk_replace(&cn_disk_files, base, PINS_NAME, cn_text_str(&text), text.len,
                         err);
    cn_text_done(&text);
    return ok;
}

static void take_out(struct cn_pins *pins, struct cn_pin pin)
{
    size_t kept = 0;

    for (size_t i = 0; i < pins->count; i++)
        if (pins->list[i].id_high != pin.id_high || pins->list[i].id_low != pin.id_low)
            pins->list[kept++] = pins->list[i];
    pins->count = kept;
}

bool cn_store_pin(const char *path, uint64_t id_high, uint64_t id_low, bool is_pinned,
                  bool *is_new, struct cn_error *err)
{
    struct cn_pin pin = {id_high, id_low};
    struct cn_pins pins = {0};
    bool was_pinned, ok;
    int lock;

    if (!cn_store_lock(path, &lock, err))
        return false;
    ok = cn_pins_read(&pins, path, err);
    was_pinned = ok && cn_pins_has(&pins, id_high, id_low);
    if (ok && was_pinned != is_pinned) {
        if (is_pinned)
            add(&pins, pin);
        else
            take_out(&pins, pin);
        ok = write_pins(&pins, path, err);
    }
    cn_pins_done(&pins);
    cn_store_unlock(lock);
    if (ok && is_new)
        *is_new = was_pinned != is_pinned;
    return ok;
}
