/* What does packing cost and gain? For the TID.dat files of a recording: bytes a call and
 * nanoseconds a record, packed with each compression, against the records compressed as they
 * are and against differences as varints.
 *
 *     bench_packed DIR
 *
 * Times of packing and unpacking are those of the fastest chunk, which is what the machine
 * can do when nobody else uses it; the others, and the rate of all processors, are of all
 * records. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/pool.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/packed/decode.h"
#include "formats/uftrace/packed/encode.h"
#include "formats/uftrace/packed/file.h"

enum { FILES_MAX = 1024, PART_LEN = 1 << 20, ROUNDS = 3, JOB_CHUNKS = 16 };

struct chunk {
    uint8_t *bytes;
    size_t len, plain_len;
};

struct work {
    struct cn_file files[FILES_MAX];
    size_t file_count;
    uint64_t record_count;
    struct chunk *chunks;
    size_t chunk_count, chunk_capacity;
    uint64_t stored_len;
    double pack_ns, unpack_ns; /* a record of the fastest chunk; 0: none yet */
};

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void keep_fastest(double *best_ns, double seconds, size_t plain_len)
{
    double ns = seconds * 1e9 * cn_uft_record_size / (double)plain_len;

    /* The last chunk of a file may be too short to tell. */
    if (plain_len >= PART_LEN / 2 && (*best_ns <= 0 || ns < *best_ns))
        *best_ns = ns;
}

static void end_with(const char *message)
{
    (void)fprintf(stderr, "bench_packed: %s\n", message);
    exit(1);
}

static void open_files(struct work *work, const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    struct cn_error err = {0};

    while (dir && (entry = readdir(dir))) {
        size_t digits = strspn(entry->d_name, "0123456789");
        struct cn_file *file = &work->files[work->file_count];

        if (digits == 0 || strcmp(entry->d_name + digits, ".dat") != 0 ||
            work->file_count == FILES_MAX)
            continue;
        if (!cn_file_open_at(file, path, entry->d_name, &err))
            end_with(err.text);
        work->file_count++;
        work->record_count += file->bytes.len / cn_uft_record_size;
    }
    if (dir)
        (void)closedir(dir);
    if (work->record_count == 0)
        end_with("no records");
}

static void keep(struct work *work, const uint8_t *bytes, size_t len, size_t plain_len)
{
    struct chunk *chunk;

    work->chunks = cn_grow(work->chunks, work->chunk_count, &work->chunk_capacity,
                           sizeof(*work->chunks));
    chunk = &work->chunks[work->chunk_count++];
    *chunk = (struct chunk){cn_alloc(len, 1), len, plain_len};
    memcpy(chunk->bytes, bytes, len);
    work->stored_len += len;
}

static void forget(struct work *work)
{
    for (size_t i = 0; i < work->chunk_count; i++)
        free(work->chunks[i].bytes);
    work->chunk_count = 0;
    work->stored_len = 0;
}

/* Make the chunks of all files. */
static void pack(struct work *work, enum cn_compression method, int level)
{
    struct cn_error err = {0};

    for (size_t i = 0; i < work->file_count; i++) {
        struct cn_uft_packer *packer = cn_uft_packer_new(false, method, level);
        struct cn_bytes rest = work->files[i].bytes;

        while (rest.len > 0) {
            double begin = now();
            size_t before_len = rest.len;
            struct cn_bytes chunk;

            cn_uft_packer_fill(packer, &rest, false);
            if (!cn_uft_packer_take(packer, &chunk, &err))
                end_with(err.text);
            keep_fastest(&work->pack_ns, now() - begin, before_len - rest.len);
            keep(work, chunk.ptr, chunk.len, before_len - rest.len);
        }
        cn_uft_packer_free(packer);
    }
}

static void unpack_chunk(struct cn_uft_unpacker *unpacker, const struct chunk *chunk)
{
    struct cn_uft_packed_lead lead;
    struct cn_bytes out;
    struct cn_error err = {0};
    enum cn_step step = CN_FAIL;

    if (cn_uft_unpacker_begin(unpacker, (struct cn_bytes){chunk->bytes, chunk->len},
                              &lead, &err))
        while ((step = cn_uft_unpacker_next(unpacker, &out, &err)) == CN_ITEM)
            continue;
    if (step == CN_FAIL)
        end_with(err.text);
}

static void unpack_alone(struct work *work)
{
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();

    for (size_t i = 0; i < work->chunk_count; i++) {
        double begin = now();

        unpack_chunk(unpacker, &work->chunks[i]);
        keep_fastest(&work->unpack_ns, now() - begin, work->chunks[i].plain_len);
    }
    cn_uft_unpacker_free(unpacker);
}

static void unpack_job(void *arg, size_t job, unsigned worker)
{
    const struct work *work = arg;
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();

    (void)worker;
    for (size_t i = job * JOB_CHUNKS; i < work->chunk_count && i < (job + 1) * JOB_CHUNKS;
         i++)
        unpack_chunk(unpacker, &work->chunks[i]);
    cn_uft_unpacker_free(unpacker);
}

static double unpack(struct work *work, unsigned workers)
{
    struct cn_jobs jobs = {
        .count = work->chunk_count / JOB_CHUNKS + 1, .arg = work, .run = unpack_job};
    double begin = now();

    cn_pool_run(&jobs, workers);
    return now() - begin;
}

/* Records compressed as they are. */
static double compress_raw(struct work *work, enum cn_compression method, int level)
{
    struct cn_compressor *compressor = cn_compressor_new(method, level);
    uint8_t *out = cn_alloc(cn_compressor_bound(compressor, PART_LEN), 1);
    struct cn_error err = {0};
    double seconds = 0;

    for (size_t i = 0; i < work->file_count; i++) {
        struct cn_bytes rest = work->files[i].bytes, part;

        while (cn_bytes_take(&rest, rest.len < PART_LEN ? rest.len : PART_LEN, &part) &&
               part.len > 0) {
            double begin = now();
            size_t len;

            if (!cn_compress(compressor, part, out, &len, &err))
                end_with(err.text);
            seconds += now() - begin;
            keep(work, out, len, part.len);
        }
    }
    free(out);
    cn_compressor_free(compressor);
    return seconds;
}

static uint8_t *put_varint(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

/* The obvious way: differences of time and of the second word, as varints. */
static size_t put_differences(struct cn_bytes part, uint8_t *out)
{
    uint64_t last_ns = 0, last_word = 0;
    uint8_t *to = out;

    for (size_t off = 0; off + cn_uft_record_size <= part.len;
         off += cn_uft_record_size) {
        uint64_t time_ns = cn_u64_get(part.ptr + off);
        uint64_t word = cn_u64_get(part.ptr + off + 8);
        int64_t change = (int64_t)(word - last_word);

        to = put_varint(to, time_ns - last_ns);
        to = put_varint(to, (uint64_t)change << 1 ^ (change < 0 ? UINT64_MAX : 0));
        last_ns = time_ns;
        last_word = word;
    }
    return (size_t)(to - out);
}

static double compress_differences(struct work *work, enum cn_compression method,
                                   int level)
{
    struct cn_compressor *compressor = cn_compressor_new(method, level);
    uint8_t *columns = cn_alloc(2 * PART_LEN, 1);
    uint8_t *out = cn_alloc(cn_compressor_bound(compressor, 2 * PART_LEN), 1);
    struct cn_error err = {0};
    double begin = now();

    for (size_t i = 0; i < work->file_count; i++) {
        struct cn_bytes rest = work->files[i].bytes, part;

        while (cn_bytes_take(&rest, rest.len < PART_LEN ? rest.len : PART_LEN, &part) &&
               part.len > 0) {
            struct cn_bytes plain = {columns, put_differences(part, columns)};
            size_t len;

            if (!cn_compress(compressor, plain, out, &len, &err))
                end_with(err.text);
            work->stored_len += len;
        }
    }
    begin = now() - begin;
    free(columns);
    free(out);
    cn_compressor_free(compressor);
    return begin;
}

static void row(const struct work *work, const char *what, double pack_ns,
                double unpack_ns)
{
    printf("%-28s %6.2f B/call %7.1f ns/record", what,
           2 * (double)work->stored_len / (double)work->record_count, pack_ns);
    if (unpack_ns > 0)
        printf(" %7.1f ns/record back, %.0f M records/s", unpack_ns, 1e3 / unpack_ns);
    printf("\n");
}

static void measure_packed(struct work *work, const char *what,
                           enum cn_compression method, int level)
{
    unsigned workers = cn_pool_default_workers();
    double all_s = 0;

    work->pack_ns = work->unpack_ns = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double s;

        forget(work);
        pack(work, method, level);
        unpack_alone(work);
        s = unpack(work, workers);
        all_s = i == 0 || s < all_s ? s : all_s;
    }
    row(work, what, work->pack_ns, work->unpack_ns);
    if (method == CN_UFT_PACK_METHOD && level == CN_UFT_PACK_LEVEL)
        printf("  all records on %u threads: %.0f M records/s\n", workers,
               (double)work->record_count / all_s / 1e6);
    forget(work);
}

int main(int argc, char **argv)
{
    static struct work work;
    static const struct {
        const char *name;
        enum cn_compression method;
        int level;
    } ways[] = {
        {"uncompressed", CN_COMPRESSION_NONE, 0},
        {"lz4", CN_COMPRESSION_LZ4, 1},
        {"deflate-1", CN_COMPRESSION_DEFLATE, 1},
        {"deflate-6", CN_COMPRESSION_DEFLATE, 6},
        {"zstd fast 5", CN_COMPRESSION_ZSTD, -5},
        {"zstd-1", CN_COMPRESSION_ZSTD, 1},
        {"zstd-3", CN_COMPRESSION_ZSTD, 3},
    };
    char what[64];
    double s;

    if (argc != 2)
        end_with("usage: bench_packed DIR");
    open_files(&work, argv[1]);
    printf("%llu records in %zu files\n", (unsigned long long)work.record_count,
           work.file_count);
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        (void)snprintf(what, sizeof(what), "packed, %s", ways[i].name);
        measure_packed(&work, what, ways[i].method, ways[i].level);
    }
    for (size_t i = 1; i < sizeof(ways) / sizeof(*ways); i++) {
        (void)snprintf(what, sizeof(what), "as recorded, %s", ways[i].name);
        s = compress_raw(&work, ways[i].method, ways[i].level);
        row(&work, what, s * 1e9 / (double)work.record_count, 0);
        forget(&work);
    }
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        (void)snprintf(what, sizeof(what), "differences, %s", ways[i].name);
        s = compress_differences(&work, ways[i].method, ways[i].level);
        row(&work, what, s * 1e9 / (double)work.record_count, 0);
        forget(&work);
    }
    for (size_t i = 0; i < work.file_count; i++)
        cn_file_close(&work.files[i]);
    free(work.chunks);
    return 0;
}
