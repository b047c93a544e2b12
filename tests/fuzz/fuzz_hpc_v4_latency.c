/* Any bytes as latency.db of an HPCToolkit v4 database, as they are and with sound checksums:
 * what opens is read to its end, with the values of the other files, and verified. */
#include <assert.h>

#include "base/files/blocks.h"
#include "formats/hpctoolkit/v4/latency_format.h"
#include "formats/hpctoolkit/v4/verify/verify.h"
#include "model/contexts/database.h"
#include "support/fuzz.h"
#include "support/fuzz_blocks.h"
#include "support/read_everything.h"
#include "support/tiny_v4.h"

enum { READ_MAX = 100000 };

static void ignore(void *arg, const struct cn_finding *finding)
{
    (void)arg;
    assert(finding->text[0] != '\0');
}

static void read_latency(const struct cn_tiny_v4 *tiny, struct cn_bytes latency)
{
    struct cn_hpc_v4_files files;
    struct cn_read_totals totals;
    struct cn_error err = {0};
    struct cn_database *db;

    cn_tiny_v4_files(tiny, &files);
    files.latency = latency;
    files.has_latency = true;
    if (cn_hpc_v4_open_bytes(&db, &files, &err)) {
        cn_read_everything(db, READ_MAX, &totals, &err);
        cn_database_close(db);
    }
    assert(cn_hpc_v4_verify_bytes(&files, NULL, ignore, NULL, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes input = {data, len};
    struct cn_text wrapped = {0};
    struct cn_tiny_v4 tiny;

    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    /* Metrics of latency.db are in the scope of this type. */
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_scope_layout, tiny.scopes_off, "type",
                   CN_SCOPE_POINT);
    read_latency(&tiny, input);
    cn_fuzz_blocks_wrap(input, CN_HPC_LATENCY_MAGIC, CN_HPC_LATENCY_VERSION, &wrapped);
    read_latency(&tiny, (struct cn_bytes){(const uint8_t *)wrapped.chars, wrapped.len});
    cn_text_done(&wrapped);
    cn_tiny_v4_done(&tiny);
    return 0;
}

/* The calls of contexts 2 and 5 in two buckets, in the summary and in both threads. */
enum { BUCKETS = 2, ROWS = 2, COUNTS = ROWS * BUCKETS };

static void add_plane(struct cn_text *out, double factor)
{
    uint8_t bytes[cn_hpc_latency_context_size];

    for (unsigned i = 0; i < COUNTS; i++) {
        struct cn_hpc_latency_count count = {(uint16_t)(i % BUCKETS), factor * (i + 1)};

        cn_hpc_latency_count_encode(&count, bytes);
        cn_text_add(out, (const char *)bytes, cn_hpc_latency_count_size);
    }
    for (unsigned i = 0; i < ROWS; i++) {
        struct cn_hpc_latency_context row = {(uint64_t)i * BUCKETS, 2 + 3 * i};

        cn_hpc_latency_context_encode(&row, bytes);
        cn_text_add(out, (const char *)bytes, sizeof(bytes));
    }
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    enum { PLANE_LEN = COUNTS * 0x0a + ROWS * 0x0c };
    struct cn_text sections = {0}, seed = {0};
    uint8_t bytes[cn_hpc_latency_profile_size];
    size_t buckets_len, profiles_len, begin = cn_block_file_header_size;

    for (unsigned i = 0; i < BUCKETS; i++) {
        struct cn_hpc_latency_bucket bucket = {100 * i, 100 * i + 50};

        cn_hpc_latency_bucket_encode(&bucket, bytes);
        cn_text_add(&sections, (const char *)bytes, cn_hpc_latency_bucket_size);
    }
    buckets_len = sections.len;
    for (unsigned i = 0; i < CN_TINY_PROFILES; i++) {
        struct cn_hpc_latency_profile profile = {(uint64_t)i * PLANE_LEN, COUNTS, ROWS};

        cn_hpc_latency_profile_encode(&profile, bytes);
        cn_text_add(&sections, (const char *)bytes, sizeof(bytes));
    }
    profiles_len = sections.len - buckets_len;
    for (unsigned i = 0; i < CN_TINY_PROFILES; i++)
        add_plane(&sections, i == 0 ? 2 : 1);
    cn_text_char(&seed, 3);
    cn_fuzz_blocks_place(&seed, CN_HPC_LATENCY_BUCKETS, begin, buckets_len);
    cn_fuzz_blocks_place(&seed, CN_HPC_LATENCY_PROFILES, begin + buckets_len,
                         profiles_len);
    cn_fuzz_blocks_place(&seed, CN_HPC_LATENCY_PLANES, begin + buckets_len + profiles_len,
                         sections.len - buckets_len - profiles_len);
    cn_text_add(&seed, sections.chars, sections.len);
    emit((const uint8_t *)seed.chars, seed.len);
    cn_text_done(&seed);
    cn_text_done(&sections);
}
