/* Writes perf.data while a program is sampled.
 *
 * While it is written, the file has the layout of a pipe: everything before the last flush
 * is readable even if the writer is killed. cn_perf_writer_close() adds sections and turns
 * it into the layout of a file. Records are compressed as `perf record -z` does.
 *
 *     cn_perf_writer_open(&writer, path, &facts, err)
 *     cn_perf_writer_add(&writer, record, err) ... cn_perf_writer_flush(&writer, err)
 *     cn_perf_writer_close(&writer, err)
 *
 * The writer copies what it is given. Threads: one thread at a time. After a failure, the
 * file contains what was flushed before; cn_perf_writer_close() releases the writer.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_WRITER_H
#define CN_FORMATS_EXCHANGE_PERF_WRITER_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/compress.h"
#include "base/text.h"
#include "formats/exchange/perf/format.h"

enum { CN_PERF_WRITER_RECORD_MAX = 32 << 10 };

/* An event: its samples have the identifier index + 1. */
struct cn_perf_writer_event {
    struct cn_bytes attr; /* perf_event_attr, all of the same length */
    const char *name;
};

struct cn_perf_writer_facts {
    const struct cn_perf_writer_event *events;
    size_t event_count;
    const char *const *command; /* words, NULL at the end */
    const char *processor;      /* its model; "" if it is unknown */
    struct cn_bytes origin;     /* its section, for a file whose writer is killed */
    struct cn_bytes kernel_build_id;
    uint32_t clock;        /* a clockid_t */
    int compression_level; /* 0: no compression */
};

struct cn_perf_writer {
    int fd;                         /* -1: not open */
    char *path;                     /* for messages */
    uint64_t end_off, data_off;     /* of the file; where the records begin */
    struct cn_text sections;        /* contents of features, and where each of them is */
    struct cn_text feature_records; /* the same, as records of a pipe */
    struct {
        uint32_t feature;
        size_t off, len;
    } at[24];
    size_t section_count;
    struct cn_text attrs; /* of all events, without ids */
    size_t attr_len, event_count;
    struct cn_text pending; /* records that are not yet written */
    struct cn_text packed;
    struct cn_compressor *compressor; /* NULL: no compression */
    uint64_t first_ns, last_ns;       /* of samples */
    uint64_t pending_count;           /* samples among the pending records */
    uint64_t sample_count;            /* samples in the file */
    bool has_old;                     /* an earlier file was renamed */
};

/* Create `path`; a file that exists is renamed to PATH.old. */
CN_CHECK bool cn_perf_writer_open(struct cn_perf_writer *writer, const char *path,
                                  const struct cn_perf_writer_facts *facts,
                                  struct cn_error *err);

/* Append a record with its head, of at most CN_PERF_WRITER_RECORD_MAX bytes. */
CN_CHECK bool cn_perf_writer_add(struct cn_perf_writer *writer, struct cn_bytes record,
                                 struct cn_error *err);

/* Count a sample of this time, which was appended. */
void cn_perf_writer_count_sample(struct cn_perf_writer *writer, uint64_t time_ns);

/* Write what is pending. */
CN_CHECK bool cn_perf_writer_flush(struct cn_perf_writer *writer, struct cn_error *err);

/* Add a section for a feature that only cairn knows, whose number is above those of perf. */
void cn_perf_writer_add_section(struct cn_perf_writer *writer, uint32_t feature,
                                struct cn_bytes contents);

/* Remove the file, give an earlier one its name back, and release the writer. */
void cn_perf_writer_discard(struct cn_perf_writer *writer);

/* Complete the file and release the writer, also one that is not open. */
CN_CHECK bool cn_perf_writer_close(struct cn_perf_writer *writer, struct cn_error *err);

#endif
