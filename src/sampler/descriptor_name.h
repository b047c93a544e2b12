/* What a descriptor of a process is, as people name it: a path, a peer's address, "pipe".
 *
 * Names are the same in every run: they have no numbers of inodes, or ports that the kernel chose.
 * Threads: any thread.
 */
#ifndef CN_SAMPLER_DESCRIPTOR_NAME_H
#define CN_SAMPLER_DESCRIPTOR_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/text.h"

/* Append the name of a descriptor, and whether exec closes it. False if the process has none. */
bool cn_descriptor_name(uint32_t pid, int32_t descriptor, struct cn_text *out,
                        bool *is_closed_by_exec);

/* Append the name of a peer by its address, as connect() takes it. False if it is of an unknown kind. */
bool cn_descriptor_peer(struct cn_bytes address, struct cn_text *out);

#endif
