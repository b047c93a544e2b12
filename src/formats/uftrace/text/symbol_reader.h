/* NAME.sym: the symbols of one module. Text is borrowed from the file.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_SYMBOL_READER_H
#define CN_FORMATS_UFTRACE_TEXT_SYMBOL_READER_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/uftrace/text/scan.h"

struct cn_uft_symbol {
    uint64_t offset; /* in the module; an address in old recordings */
    uint64_t size;   /* up to the next symbol when the file has none */
    struct cn_bytes name;
    char type;
    bool has_size; /* the file has one */
};

/* The head of a .sym or .dbg file. */
struct cn_uft_module_head {
    struct cn_bytes path, build_id; /* empty when missing */
    uint64_t symbol_count; /* at least so many lines follow the head; 0 when missing */
};

struct cn_uft_symbols {
    struct cn_uft_symbol *list; /* sorted by offset */
    size_t count, capacity;
    struct cn_uft_module_head head;
};

/* Called for each line that cannot be parsed. */
typedef void (*cn_uft_bad_line_fn)(void *arg, uint64_t off, const struct cn_error *err);

/* Read the whole file. Lines that cannot be parsed are reported and skipped; that the file has fewer
 * lines than its head says is also reported, at its last line. */
void cn_uft_symbols_read(struct cn_bytes file, struct cn_uft_symbols *out,
                         cn_uft_bad_line_fn bad, void *arg);
void cn_uft_symbols_done(struct cn_uft_symbols *symbols);

/* The mark that distinguishes the files of modules with the same name: "-" and the first
 * four digits of the build-id or, without one, the sum of the bytes of the path. */
enum { CN_UFT_MARK_LEN = 5 };
void cn_uft_module_mark(const char *path, const char *build_id,
                        char out[static CN_UFT_MARK_LEN + 1]);

/* Read the head only. */
void cn_uft_module_head_read(struct cn_bytes file, struct cn_uft_module_head *out);

/* Read "# path name: P" or "# build-id: B" into the head; true for every line that begins
 * with #. */
bool cn_uft_module_head_scan(struct cn_bytes line, struct cn_uft_module_head *out);

#endif
