/* Traces that are never forgotten: the file "pinned" of a store, an id of 32 digits a line.
 * Threads: any thread.
 */
#ifndef CN_STORE_CARE_PINS_H
#define CN_STORE_CARE_PINS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_pin {
    uint64_t id_high, id_low;
};

struct cn_pins {
    struct cn_pin *list;
    size_t count, capacity;
};

/* No file: no pins. Lines that are no ids are ignored. */
CN_CHECK bool cn_pins_read(struct cn_pins *pins, const char *base, struct cn_error *err);
bool cn_pins_has(const struct cn_pins *pins, uint64_t id_high, uint64_t id_low);
void cn_pins_done(struct cn_pins *pins);

#endif
