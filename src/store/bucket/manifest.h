/* Manifests: which segments a store in object storage has, and what is known of each without asking
 * for it.
 *
 * Objects, written once and never changed:
 *   manifest/00002a          one entry, of segment 0x2a: the segment is part of the store
 *   manifest/00002a.gone     the segment was removed: its id
 * The number belongs to the writer whose conditional put made the object. A segment may replace
 * others (compaction): they are no longer part of the store. If two replace the same segment, the
 * one with the lower number counts and the other does not exist.
 *
 * Layout of an entry: "CNSTMAN1" | u32 little endian: CRC-32C of the rest | CBOR array of
 *   number, id, [first_ns, last_ns, spans, failed_spans, traces, failed_traces, records, words,
 *   disk_len], [[name, length] of each file], config.props, [replaced numbers], filter
 * The objects of the files are segments/ID/NAME.
 * Threads: one thread at a time; entries are immutable.
 */
#ifndef CN_STORE_BUCKET_MANIFEST_H
#define CN_STORE_BUCKET_MANIFEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/bytes.h"
#include "base/bytes/cbor.h"
#include "base/error.h"
#include "store/index/row.h"

enum {
    CN_MANIFEST_FILES_MAX = 16,
    CN_MANIFEST_NAME_LEN = 24,
    CN_MANIFEST_ID_LEN = 32, /* hexadecimal digits */
    CN_MANIFEST_CONFIG_MAX = 1 << 14,
    CN_MANIFEST_REPLACED_MAX = 1 << 16,
};

struct cn_manifest_file {
    char name[CN_MANIFEST_NAME_LEN];
    uint64_t len;
};

struct cn_manifest_entry {
    uint32_t number;
    char id[CN_MANIFEST_ID_LEN + 1];
    struct cn_segment_summary summary;
    struct cn_manifest_file files[CN_MANIFEST_FILES_MAX];
    size_t file_count;
    char *config; /* the text of its config.props */
    uint32_t *replaced;
    size_t replaced_count;
    uint8_t *filter; /* of words and trace ids: store/index/word_filter.h */
    size_t filter_len;
};

void cn_manifest_entry_free(struct cn_manifest_entry *entry); /* NULL is fine */

void cn_manifest_entry_encode(const struct cn_manifest_entry *entry,
                              struct cn_cbor_out *out);

/* The caller releases the entry. Numbers, names and lengths are checked. */
CN_CHECK bool cn_manifest_entry_decode(struct cn_bytes bytes,
                                       struct cn_manifest_entry **out,
                                       struct cn_error *err);

/* A list of entries, for example those of a collector that are in no bucket so far. Layout: CBOR
 * array of a label and the entries, each in the layout above as a byte string. The label has at
 * most CN_MANIFEST_ID_LEN hexadecimal digits. The caller releases the decoded entries and their
 * list. */
void cn_manifest_list_encode(const char *label, struct cn_manifest_entry *const *entries,
                             size_t count, struct cn_cbor_out *out);
CN_CHECK bool cn_manifest_list_decode(struct cn_bytes bytes,
                                      char label[CN_MANIFEST_ID_LEN + 1],
                                      struct cn_manifest_entry ***entries, size_t *count,
                                      struct cn_error *err);

/* The number of a segment before it is uploaded: by its id, and of no entry. */
static inline uint32_t cn_manifest_fresh_number(const char *id)
{
    char digits[7] = "";

    memcpy(digits, id, sizeof(digits) - 1);
    return 0x1000000 | (uint32_t)strtoul(digits, NULL, 16);
}

/* Entries are also merged: manifest/000040.all has those of numbers 0x40 to 0x7f that counted when it
 * was written, in the form of a list. It saves requests, and decides nothing: an entry counts if its
 * own object exists. */
#define CN_MANIFEST_MERGED ".all"
enum { CN_MANIFEST_TOGETHER = 64 };

/* "0123456789abcdef...", random. */
void cn_manifest_new_id(char id[CN_MANIFEST_ID_LEN + 1]);

#endif
