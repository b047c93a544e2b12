/* Reads a store: a directory of numbered segments, each with rows, words and data; or the same in
 * object storage (store/bucket/bucket.h), of which only what is needed is fetched.
 *
 * cn_store_open() takes a snapshot; open again to see later commits. Any number of processes may
 * read while one writes.
 *
 *     for (size_t i = 0; i < cn_store_segment_count(store); i++) {
 *         const struct cn_segment *segment = cn_store_segment(store, i);
 *         for (uint32_t r = 0; r < cn_segment_row_count(segment); r++)
 *             cn_segment_row(segment, r, &row, err) ...
 *     }
 *
 * Everything returned is borrowed and lives as long as the store.
 * Threads: immutable after open; each cn_segment_loader belongs to one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_READER_H
#define CN_STORE_SEGMENT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "store/index/row.h"

struct cn_columns;
struct cn_segment;
struct cn_store;
struct cn_text_file;
struct cn_words;
struct cn_zorka_names;
struct cn_zorka_values;

/* `path` is the directory of a store or of one segment, or the address of a store in object
 * storage. */
CN_CHECK bool cn_store_open(struct cn_store **out, const char *path,
                            struct cn_error *err);

/* The same, sharing the sealed segments of an earlier snapshot. Either of the two may be closed
 * first. */
CN_CHECK bool cn_store_open_again(struct cn_store **out, const char *path,
                                  const struct cn_store *earlier, struct cn_error *err);

/* Some segments of a store in a directory, by ascending numbers. Those that are gone are left out. */
CN_CHECK bool cn_store_open_some(struct cn_store **out, const char *base,
                                 const uint32_t *numbers, size_t count,
                                 struct cn_error *err);
void cn_store_close(struct cn_store *store); /* NULL is fine */

/* Collectors of a store in object storage that did not answer, each with the reason: traces of
 * theirs that were not uploaded so far are missing. */
size_t cn_store_missing_count(const struct cn_store *store);
const char *cn_store_missing(const struct cn_store *store, size_t i);

/* Of a store in object storage: look whether it has other segments now. If so, opening it again
 * waits for no request. Any thread, while the store is open. */
CN_CHECK bool cn_store_look(const struct cn_store *store, bool *is_changed,
                            struct cn_error *err);

/* How long to wait from one look to the next; 0: the store is a directory. */
uint64_t cn_store_look_ns(const struct cn_store *store);

/* By number, oldest first. */
size_t cn_store_segment_count(const struct cn_store *store);
const struct cn_segment *cn_store_segment(const struct cn_store *store, size_t i);

uint32_t cn_segment_number(const struct cn_segment *segment); /* 0x00002a */

/* True if it has this number, or had it before it was uploaded by a collector. */
bool cn_segment_answers_to(const struct cn_segment *segment, uint32_t number);
const char *cn_segment_path(const struct cn_segment *segment); /* its directory */
const char *cn_segment_lane(const struct cn_segment *segment); /* that wrote it; or "" */
bool cn_segment_is_sealed(const struct cn_segment *segment);

/* True if files of its directory were created, renamed or removed since it was opened. */
bool cn_segment_has_changed(const struct cn_segment *segment);

/* True if it was made of others, which it replaced: the numbers of the first and the last of them. */
bool cn_segment_has_replaced(const struct cn_segment *segment, uint32_t *first,
                             uint32_t *last);
uint32_t cn_segment_row_count(const struct cn_segment *segment);

/* The times of its spans; the first is above the last without any. */
void cn_segment_times(const struct cn_segment *segment, uint64_t *first_ns,
                      uint64_t *last_ns);

/* A filter of its words and trace ids (store/index/word_filter.h); empty if it has none. */
struct cn_bytes cn_segment_filter(const struct cn_segment *segment);

/* A search by content follows: fetch what that reads of a segment in object storage at once. */
void cn_segment_expect_all(const struct cn_segment *segment);

/* All rows by column, and one row. */
const struct cn_columns *cn_segment_columns(const struct cn_segment *segment);
CN_CHECK bool cn_segment_row(const struct cn_segment *segment, uint32_t row,
                             struct cn_store_row *out, struct cn_error *err);

const struct cn_words *cn_segment_words(const struct cn_segment *segment);

/* Check all words against their checksums, before their texts are used. */
CN_CHECK bool cn_segment_check_words(const struct cn_segment *segment,
                                     struct cn_error *err);

/* The searchable dictionary; NULL if the segment is not sealed or it cannot be read. */
const struct cn_text_file *cn_segment_text(const struct cn_segment *segment);

/* True if a file is missing or damaged. Its content was rebuilt from traces.dat, if possible. */
bool cn_segment_is_damaged(const struct cn_segment *segment);

/* Fails if damage is known that cost traces or words: searches may find too little. The error has
 * the file and the offset of the first one. */
CN_CHECK bool cn_segment_check(const struct cn_segment *segment, struct cn_error *err);

CN_CHECK bool cn_segment_summarize(const struct cn_segment *segment,
                                   struct cn_segment_summary *out, struct cn_error *err);

/* Add a summary to a sum, whose first_ns is UINT64_MAX at the beginning. */
void cn_segment_summary_add(struct cn_segment_summary *sum,
                            const struct cn_segment_summary *summary);

/* Release the mapped pages of its words. */
void cn_segment_forget(const struct cn_segment *segment);

/* The bytes of traces.dat. */
struct cn_bytes cn_segment_data(const struct cn_segment *segment);

/* Loads traces; caches the last decompressed chunk. */
struct cn_segment_loader;
struct cn_segment_loader *cn_segment_loader_new(void);
void cn_segment_loader_free(struct cn_segment_loader *loader); /* NULL is fine */

/* Load the span of a row with all calls below. Its words are those of the segment. A trace in
 * several parts is joined from those that have arrived. */
CN_CHECK bool cn_segment_load(struct cn_segment_loader *loader,
                              const struct cn_segment *segment, uint32_t row,
                              struct cn_trace *out, struct cn_error *err);

/* The value of an attribute of each span of the chunk at `data_off`, without loading them; none if the
 * chunk has no columns. A text is a word of the segment, that may have to be fetched:
 * cn_segment_need_word(). */
CN_CHECK bool cn_segment_load_attribute(struct cn_segment_loader *loader,
                                        const struct cn_segment *segment,
                                        uint64_t data_off,
                                        const struct cn_zorka_names *names,
                                        struct cn_zorka_values *out,
                                        struct cn_error *err);
CN_CHECK bool cn_segment_need_word(const struct cn_segment *segment, uint32_t word,
                                   struct cn_error *err);

#endif
