/* How fast a store takes agent requests, with both indexes, and what they take on disk:
 *     bench_store_ingest STORE FILE...
 *
 * FILE is what bench_gen_store wrote. Prints records a second of processor time, and the bytes
 * of every file of the store a record.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/text.h"
#include "store/segment/segments.h"
#include "store/write/ingest.h"

static double cpu_s(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static bool add_files(const char *store, char **files, int count,
                      struct cn_store_ingest_counts *counts, struct cn_error *err)
{
    struct cn_store_writer *writer;
    struct cn_store_ingest *ingest;
    bool ok = true;

    if (!cn_store_init(store, NULL, err) ||
        !cn_store_writer_open(&writer, store, NULL, err))
        return false;
    ingest = cn_store_ingest_new(writer);
    for (int i = 0; ok && i < count; i++)
        ok = cn_store_ingest_file(ingest, files[i], err);
    ok = ok && cn_store_writer_commit(writer, err);
    *counts = cn_store_ingest_counts(ingest);
    cn_store_ingest_free(ingest);
    if (ok)
        ok = cn_store_writer_rotate(writer, err);
    if (ok)
        return cn_store_writer_close(writer, err);
    cn_store_writer_abandon(writer);
    return false;
}

static uint64_t print_sizes(const char *dir, uint64_t records)
{
    DIR *list = opendir(dir);
    const struct dirent *entry;
    uint64_t all = 0;

    while (list && (entry = readdir(list))) {
        struct cn_text path = {0};
        struct stat st;
        uint32_t number;

        cn_text_printf(&path, "%s/%s", dir, entry->d_name);
        if (entry->d_name[0] == '.' || stat(cn_text_str(&path), &st) < 0) {
            cn_text_done(&path);
            continue;
        }
        if (cn_segments_parse(entry->d_name, &number)) {
            all += print_sizes(cn_text_str(&path), records);
        } else if (S_ISREG(st.st_mode)) {
            printf("  %-40s %8.3f B/record\n", cn_text_str(&path),
                   (double)st.st_size / (double)records);
            all += (uint64_t)st.st_size;
        }
        cn_text_done(&path);
    }
    if (list)
        (void)closedir(list);
    return all;
}

int main(int argc, char **argv)
{
    struct cn_store_ingest_counts counts = {0};
    struct cn_error err = {0};
    struct rusage usage;
    double begin_s = cpu_s(), used_s;
    uint64_t len;

    if (argc < 3) {
        (void)fprintf(stderr, "usage: bench_store_ingest STORE FILE...\n");
        return 2;
    }
    if (!add_files(argv[1], argv + 2, argc - 2, &counts, &err)) {
        (void)fprintf(stderr, "bench_store_ingest: %s\n", err.text);
        return 1;
    }
    used_s = cpu_s() - begin_s;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("traces %" PRIu64 ", records %" PRIu64 ", processor %.2f s, %.2f M records/s, "
           "memory %ld MB\n",
           counts.added.traces, counts.added.records, used_s,
           (double)counts.added.records / used_s / 1e6, usage.ru_maxrss / 1024);
    len = print_sizes(argv[1], counts.added.records);
    printf("all files %.2f B/record\n", (double)len / (double)counts.added.records);
    return 0;
}
