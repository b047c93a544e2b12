#include "formats/uftrace/text/symbol_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "formats/uftrace/format.h"

void cn_uft_module_mark(const char *path, const char *build_id,
                        char out[static CN_UFT_MARK_LEN + 1])
{
    unsigned sum = 0;

    for (; *path; path++)
        sum = (sum + (unsigned char)*path) & UINT16_MAX;
    if (build_id[0] != '\0')
        (void)snprintf(out, CN_UFT_MARK_LEN + 1, "-%.4s", build_id);
    else
        (void)snprintf(out, CN_UFT_MARK_LEN + 1, "-%04x", sum);
}

bool cn_uft_module_head_scan(struct cn_bytes line, struct cn_uft_module_head *out)
{
    if (!cn_uft_scan_literal(&line, "#"))
        return false;
    if (cn_uft_scan_literal(&line, " symbols: "))
        (void)cn_uft_scan_dec(&line, &out->symbol_count);
    else if (cn_uft_scan_literal(&line, " path name: "))
        out->path = line;
    else if (cn_uft_scan_literal(&line, " build-id: "))
        out->build_id = line;
    return true;
}

void cn_uft_module_head_read(struct cn_bytes file, struct cn_uft_module_head *out)
{
    struct cn_uft_lines lines;
    struct cn_bytes line;
    struct cn_error ignored = {0};

    *out = (struct cn_uft_module_head){0};
    cn_uft_lines_begin(&lines, file);
    while (cn_uft_lines_next(&lines, &line, &ignored) == CN_ITEM &&
           cn_uft_module_head_scan(line, out))
        continue;
}

/* "ADDRESS SIZE TYPE NAME", in old recordings "ADDRESS TYPE NAME". */
static bool scan_symbol(struct cn_bytes line, struct cn_uft_symbol *out)
{
    struct cn_uft_symbol found = {0};
    struct cn_bytes word;

    if (!cn_uft_scan_hex(&line, &found.offset) || !cn_uft_scan_spaces(&line) ||
        !cn_uft_scan_word(&line, &word))
        return false;
    /* A type may look like a hexadecimal digit, but a size has eight digits. */
    if (word.len > 1) {
        if (!cn_uft_scan_hex(&word, &found.size) || word.len > 0 ||
            !cn_uft_scan_spaces(&line) || !cn_uft_scan_word(&line, &word))
            return false;
        found.has_size = true;
    }
    if (word.len != 1 || !cn_uft_scan_spaces(&line) || line.len == 0 ||
        line.len > CN_UFT_NAME_MAX)
        return false;
    found.type = (char)word.ptr[0];
    found.name = line;
    *out = found;
    return true;
}

/* Symbols without a size end at the next symbol. Terminators mark the end of the last one
 * and are dropped. */
static void settle_sizes(struct cn_uft_symbols *symbols)
{
    uint64_t next = UINT64_MAX, here = UINT64_MAX;
    size_t count = 0;

    for (size_t i = symbols->count; i-- > 0;) {
        struct cn_uft_symbol *symbol = &symbols->list[i];

        if (symbol->offset != here) {
            next = here;
            here = symbol->offset;
        }
        if (symbol->size == 0 && next != UINT64_MAX)
            symbol->size = next - symbol->offset;
    }
    for (size_t i = 0; i < symbols->count; i++) {
        struct cn_bytes name = symbols->list[i].name;

        if (!cn_uft_text_equals(name, "__sym_end") &&
            !cn_uft_text_equals(name, "__dynsym_end") &&
            !cn_uft_text_equals(name, "__func_end"))
            symbols->list[count++] = symbols->list[i];
    }
    symbols->count = count;
}

void cn_uft_symbols_read(struct cn_bytes file, struct cn_uft_symbols *out,
                         cn_uft_bad_line_fn bad, void *arg)
{
    struct cn_uft_lines lines;
    struct cn_uft_symbol symbol;
    struct cn_bytes line;
    struct cn_error err = {0};
    enum cn_step step;
    uint64_t count = 0;

    *out = (struct cn_uft_symbols){0};
    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_lines_next(&lines, &line, &err)) != CN_END) {
        if (step == CN_ITEM && cn_uft_module_head_scan(line, &out->head))
            continue;
        count++;
        if (step == CN_ITEM && scan_symbol(line, &symbol)) {
            CN_PUSH(out->list, out->count, out->capacity, symbol);
            continue;
        }
        if (step == CN_ITEM)
            (void)cn_fail(&err, CN_ERR_FORMAT, "line %" PRIu64 ": not a symbol: \"%.*s\"",
                          lines.number, (int)(line.len < 80 ? line.len : 80),
                          (const char *)line.ptr);
        bad(arg, lines.off, &err);
    }
    /* The symbol at the end of the files of uftrace says that they are whole. */
    bool is_ended = out->count > 0 && out->list[out->count - 1].type == '?';
    if (count < out->head.symbol_count && !is_ended) {
        (void)cn_fail(&err, CN_ERR_FORMAT,
                      "ends at line %" PRIu64 ", after %" PRIu64 " of %" PRIu64
                      " symbols",
                      lines.number, count, out->head.symbol_count);
        bad(arg, lines.off, &err);
    }
    /* Symbols at the same offset stay in the order of the file. */
    CN_SORT(out->list, out->count, CN_UP(struct cn_uft_symbol, offset));
    settle_sizes(out);
}

void cn_uft_symbols_done(struct cn_uft_symbols *symbols)
{
    free(symbols->list);
    *symbols = (struct cn_uft_symbols){0};
}
