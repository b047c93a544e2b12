/* config.props: what kind of store it is, one "key = value" a line. There is one in the base
 * directory and one in every segment.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEGMENT_CONFIG_H
#define CN_STORE_SEGMENT_CONFIG_H

#include <stdint.h>

#include "base/error.h"
#include "base/files/disk.h"

enum cn_store_dialect {
    CN_STORE_SPEC, /* as specified */
    CN_STORE_JAVA, /* so that the original tools read traces.dat and text-*.wal */
};

/* All zero is the default. Kept in config.props when the store is made. */
struct cn_store_options {
    enum cn_store_dialect dialect;
    bool use_lz4;             /* faster and larger than deflate */
    uint64_t rotate_len;      /* bytes of a segment before the next one begins */
    uint64_t rotate_ns;       /* time it covers; 0: any */
    uint64_t commit_len;      /* bytes waiting in memory before a commit is made anyway */
    bool seals_later;         /* full segments are left to the owner, who seals them */
    const struct cn_disk *io; /* NULL: files */
};

struct cn_store_config {
    uint32_t version; /* of the layout */
    enum cn_store_dialect dialect;
    bool use_lz4;
    uint64_t rotate_len, rotate_ns;
    uint64_t created_ns; /* since the epoch */
    bool is_sealed;      /* segments only, as what follows */
    bool has_replaced;   /* it took the place of other segments */
    uint32_t replaced_first, replaced_last;
};

enum { CN_STORE_VERSION = 1 };

/* Defaults for what options leave at 0. */
struct cn_store_config cn_store_config_of(const struct cn_store_options *options,
                                          uint64_t now_ns);

/* Keys that are not known are ignored; a version that is not is refused. */
CN_CHECK bool cn_store_config_read(struct cn_store_config *out, const char *dir,
                                   struct cn_error *err);

/* Written under another name, synced and renamed. */
CN_CHECK bool cn_store_config_write(const struct cn_store_config *config, const char *dir,
                                    const struct cn_disk *io, struct cn_error *err);

#endif
