/* NAME.sym: the symbols of one module, by offset.
 * Threads: any thread; text is borrowed from the file.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_SYMBOL_READER_H
#define CN_FORMATS_UFTRACE_TEXT_SYMBOL_READER_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/uftrace/text/scan.h"

struct cn_uft_symbol {
    uint64_t offset; /* in the module; an address in old recordings */
    uint64_t size;   /* up to the next symbol when the file does not say */
    struct cn_bytes name;
    char type;
    bool has_size; /* the file says it */
};

/* What lies at the start of .sym and .dbg files. */
struct cn_uft_module_head {
    struct cn_bytes path, build_id; /* empty when not given */
};

struct cn_uft_symbols {
    struct cn_uft_symbol *list; /* sorted by offset */
    size_t count, capacity;
    struct cn_uft_module_head head;
};

/* Told about each line that is not understood. */
typedef void (*cn_uft_bad_line_fn)(void *arg, uint64_t off, const struct cn_error *err);

/* Read the whole file; lines that are not understood are reported and skipped. */
void cn_uft_symbols_read(struct cn_bytes file, struct cn_uft_symbols *out,
                         cn_uft_bad_line_fn bad, void *arg);
void cn_uft_symbols_done(struct cn_uft_symbols *symbols);

/* What tells the files of this module from those of another with the same name: "-", and
 * the start of the build-id or, without one, the sum of the bytes of the path. */
enum { CN_UFT_MARK_LEN = 5 };
void cn_uft_module_mark(const char *path, const char *build_id,
                        char out[static CN_UFT_MARK_LEN + 1]);

/* Just the first lines: whose symbols or debug information this is. */
void cn_uft_module_head_read(struct cn_bytes file, struct cn_uft_module_head *out);

/* "# path name: P" or "# build-id: B" into the head; true for every line that begins
 * with #. */
bool cn_uft_module_head_scan(struct cn_bytes line, struct cn_uft_module_head *out);

#endif
