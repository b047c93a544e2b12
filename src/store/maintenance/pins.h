/* The pinned traces of a store, which do not expire: the file "pinned", one trace id of 32
 * hexadecimal digits per line.
 *
 * A lock of its own, "pinned.lock", allows to pin while another process writes to the store: what
 * removes segments takes it from reading the pins to removing what is not pinned.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_MAINTENANCE_PINS_H
#define CN_STORE_MAINTENANCE_PINS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_pin {
    uint64_t id_high, id_low;
};

struct cn_pins {
    struct cn_pin *list; /* ascending */
    size_t count, capacity;
    int lock;
};

/* Take the lock and read the pins; waits while another process has it. On failure nothing has to be
 * released. A missing file has no pins; lines that are not ids are ignored. */
CN_CHECK bool cn_pins_open(struct cn_pins *pins, const char *base, struct cn_error *err);
void cn_pins_close(struct cn_pins *pins);

bool cn_pins_have(const struct cn_pins *pins, uint64_t id_high, uint64_t id_low);

#endif
