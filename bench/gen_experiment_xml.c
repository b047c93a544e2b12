/* A large experiment.xml: how fast and in how much memory it loads.
 *
 *   bench_gen_experiment_xml --contexts N -o DIR
 *
 * Writes a database with that many contexts and hardly any values, reads its experiment.xml with
 * expat and nothing else, then opens the database, and prints `name number` lines: `size` of the
 * file in MB, `expat` and `load` in MB/s, `memory` in bytes for each context.
 */
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/files/file.h"
#include "base/files/out.h"
#include "base/text.h"
#include "formats/hpctoolkit/sparse/writer.h"
#include "model/contexts/memory.h"
#include "open/open.h"

enum {
    PROCEDURES = 20000,
    FILES = 2000,
    MODULES = 50,
    DEPTH = 40,
    FLUSH_LEN = 1 << 16,
    FEED_LEN = 1 << 16,
};

struct generator {
    struct cn_out out;
    struct cn_text text;
    uint64_t state;
    uint32_t next_id, wanted;
};

static uint32_t draw(struct generator *g, uint32_t limit)
{
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((g->state >> 33) % limit);
}

static bool flush(struct generator *g, size_t at_least, struct cn_error *err)
{
    if (g->text.len < at_least)
        return true;
    if (!cn_out_write(&g->out, cn_text_str(&g->text), g->text.len, err))
        return false;
    cn_text_clear(&g->text);
    return true;
}

static void add_head(struct generator *g)
{
    cn_text_str_add(
        &g->text,
        "<?xml version=\"1.0\"?>\n<HPCToolkitExperiment version=\"4.0\">\n<Header "
        "n=\"bench\">\n<Info/>\n</Header>\n<SecCallPathProfile i=\"0\" n=\"bench\">\n"
        "<SecHeader>\n<MetricTable>\n</MetricTable>\n<MetricDBTable>\n</MetricDBTable>\n"
        "<TraceDBTable>\n</TraceDBTable>\n<LoadModuleTable>\n");
    for (unsigned i = 0; i < MODULES; i++)
        cn_text_printf(&g->text, "<LoadModule i=\"%u\" n=\"/usr/lib/lib%u.so\"/>\n", i,
                       i);
    cn_text_str_add(&g->text, "</LoadModuleTable>\n<FileTable>\n"
                              "<File i=\"2147483647\" n=\"&lt;unknown file&gt;\"/>\n");
    for (unsigned i = 0; i < FILES; i++)
        cn_text_printf(&g->text, "<File i=\"%u\" n=\"/home/user/source/file%u.c\"/>\n", i,
                       i);
    cn_text_str_add(&g->text, "</FileTable>\n<ProcedureTable>\n<Procedure i=\"1\" "
                              "n=\"&lt;program root&gt;\" v=\"0\" f=\"1\"/>\n");
    for (unsigned i = 2; i < PROCEDURES; i++)
        cn_text_printf(&g->text, "<Procedure i=\"%u\" n=\"function%u\" v=\"0x%x\"/>\n", i,
                       i, i * 4096);
    cn_text_str_add(&g->text, "</ProcedureTable>\n<Info/>\n</SecHeader>\n"
                              "<SecCallPathProfileData>\n");
}

/* A line, a call on it, and the function it calls: what most of a real tree is made of. */
static void add_call(struct generator *g)
{
    uint32_t file = draw(g, FILES), line = 1 + draw(g, 20000), id = g->next_id;
    uint32_t procedure = 2 + draw(g, PROCEDURES - 2);

    cn_text_printf(
        &g->text,
        "<S i=\"%u\" it=\"%u\" f=\"%u\" l=\"%u\" s=\"%u\" v=\"0\"/>\n"
        "<C i=\"%u\" s=\"%u\"  f=\"%u\" l=\"%u\" v=\"0x%x\" it=\"%u\">\n"
        "<PF i=\"%u\" s=\"%u\" n=\"%u\" v=\"0x%x\" f=\"%u\" l=\"%u\" lm=\"%u\">\n",
        id, id, file, line, 1000000 + line * 7, id + 1, 2000000 + line, file, line,
        0x400000 + line * 16, id + 1, id + 2, procedure, procedure, procedure * 4096,
        procedure % FILES, 10 + procedure % 9000, procedure % MODULES);
    g->next_id += 3;
}

static bool add_tree(struct generator *g, struct cn_error *err)
{
    uint32_t contexts = 1, depth = 0;

    cn_text_str_add(
        &g->text, "<PF i=\"1\" n=\"1\" s=\"1\" f=\"2147483647\" l=\"0\" lm=\"1\">\n"
                  "<C i=\"-1\" s=\"1\" v=\"0\" f=\"2147483647\" l=\"0\" it=\"1\">\n"
                  "<PF i=\"2\" s=\"2\" n=\"2\" v=\"0x2000\" f=\"0\" l=\"1\" lm=\"1\">\n");
    g->next_id = 3;
    while (contexts < g->wanted) {
        uint32_t leave = depth == DEPTH ? 1 + draw(g, DEPTH) : draw(g, 3);

        add_call(g);
        contexts += 2;
        depth++;
        for (; leave > 0 && depth > 0; leave--, depth--)
            cn_text_str_add(&g->text, "</PF>\n</C>\n");
        if (!flush(g, FLUSH_LEN, err))
            return false;
    }
    for (; depth > 0; depth--)
        cn_text_str_add(&g->text, "</PF>\n</C>\n");
    cn_text_str_add(&g->text, "</PF>\n</C>\n</PF>\n</SecCallPathProfileData>\n"
                              "</SecCallPathProfile>\n</HPCToolkitExperiment>\n");
    return flush(g, 0, err);
}

static bool write_experiment(const char *dir, uint32_t contexts, struct cn_error *err)
{
    struct generator g = {.state = 1, .wanted = contexts};
    bool ok = cn_out_open_at(&g.out, dir, "experiment.xml", err);

    add_head(&g);
    ok = ok && add_tree(&g, err) && cn_out_close(&g.out, err);
    cn_out_abandon(&g.out);
    cn_text_done(&g.text);
    return ok;
}

/* profile.db and cct.db that hold nothing. */
static bool write_values(const char *dir, struct cn_error *err)
{
    struct cn_write_options options = {.workers = 1};
    struct cn_database *db = cn_memory_database_finish(cn_memory_database_new("", ""));
    struct cn_hpc_sparse_writing w = {
        .db = db, .options = &options, .dir = dir, .workers = 1};
    bool ok = cn_hpc_sparse_write(&w, err);

    cn_database_close(db);
    return ok;
}

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void XMLCALL on_start(void *arg, const char *name, const char **attributes)
{
    (void)name, (void)attributes;
    ++*(uint64_t *)arg;
}

static void XMLCALL on_end(void *arg, const char *name)
{
    (void)arg, (void)name;
}

/* The floor: expat, and handlers that do nothing. */
static bool parse_with_expat(const char *dir, struct cn_error *err)
{
    struct cn_file file = {0};
    uint64_t elements = 0;
    XML_Parser parser;
    bool ok = cn_file_open_at(&file, dir, "experiment.xml", err);
    size_t at = 0;

    if (!ok)
        return false;
    parser = XML_ParserCreate(NULL);
    XML_SetUserData(parser, &elements);
    XML_SetElementHandler(parser, on_start, on_end);
    while (ok && at < file.bytes.len) {
        size_t len = file.bytes.len - at < FEED_LEN ? file.bytes.len - at : FEED_LEN;
        struct cn_bytes part;

        (void)cn_bytes_slice(file.bytes, at, len, &part);
        at += len;
        ok = XML_Parse(parser, (const char *)part.ptr, (int)len, at == file.bytes.len) ==
                 XML_STATUS_OK ||
             cn_fail(err, CN_ERR_FORMAT, "expat refuses the file");
        cn_file_forget(part);
    }
    XML_ParserFree(parser);
    cn_file_close(&file);
    return ok;
}

static uint64_t peak_kib(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss;
}

static bool measure(const char *dir, uint32_t contexts, struct cn_error *err)
{
    struct cn_opened opened;
    struct cn_file file = {0};
    double megabytes, start, seconds;
    uint64_t before;

    if (!cn_file_open_at(&file, dir, "experiment.xml", err))
        return false;
    megabytes = (double)file.bytes.len / 1e6;
    cn_file_close(&file);
    printf("size %.0f\n", megabytes);
    start = now();
    if (!parse_with_expat(dir, err))
        return false;
    printf("expat %.0f\n", megabytes / (now() - start));
    before = peak_kib();
    start = now();
    if (!cn_open(&opened, dir, CN_CONTEXTS, NULL, err))
        return false;
    seconds = now() - start;
    printf("load %.0f\n", megabytes / seconds);
    printf("memory %.0f\n", (double)(peak_kib() - before) * 1024 / contexts);
    cn_opened_close(&opened);
    return true;
}

int main(int argc, char **argv)
{
    struct cn_error err = {0};
    uint32_t contexts = 0;

    if (argc == 5 && strcmp(argv[1], "--contexts") == 0 && strcmp(argv[3], "-o") == 0)
        contexts = (uint32_t)strtoul(argv[2], NULL, 10);
    if (contexts == 0) {
        fprintf(stderr, "usage: bench_gen_experiment_xml --contexts N -o DIR\n");
        return 2;
    }
    if ((mkdir(argv[4], 0777) == 0 || cn_fail_errno(&err, "%s", argv[4])) &&
        write_experiment(argv[4], contexts, &err) && write_values(argv[4], &err) &&
        measure(argv[4], contexts, &err))
        return 0;
    fprintf(stderr, "bench_gen_experiment_xml: %s\n", err.text);
    return 1;
}
