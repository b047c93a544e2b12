/* Any bytes as a symbol file, its names demangled. */

#include <assert.h>

#include "base/arena.h"
#include "base/text.h"
#include "formats/uftrace/text/symbol_reader.h"
#include "support/fuzz.h"
#include "symbols/demangle.h"

static void bad_line(void *arg, uint64_t off, const struct cn_error *err)
{
    const size_t *len = arg;

    assert(off < *len && err->text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_uft_symbols symbols;
    struct cn_arena arena = {0};
    struct cn_text text = {0};

    cn_uft_symbols_read((struct cn_bytes){data, len}, &symbols, bad_line, &len);
    for (size_t i = 0; i < symbols.count; i++) {
        const char *raw = cn_uft_text_copy(&arena, symbols.list[i].name);

        assert(i == 0 || symbols.list[i - 1].offset <= symbols.list[i].offset);
        for (int how = CN_DEMANGLE_SIMPLE; how <= CN_DEMANGLE_NO; how++) {
            cn_text_clear(&text);
            if (!cn_demangle(raw, (enum cn_demangle)how, &text))
                assert(text.len == 0);
        }
    }
    cn_uft_symbols_done(&symbols);
    cn_arena_done(&arena);
    cn_text_done(&text);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char text[] =
        "# symbols: 4\n# path name: /bin/x\n# build-id: 0123\n"
        "0000000000000500 00000010 P puts\n"
        "0000000000001000 00000020 T _ZZN5outer5inner7Derived3runEiENKUliE_clEi\n"
        "0000000000001020 00000020 w "
        "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc\n"
        "0000000000001040 00000020 t _ZN4core3fmt9Formatter3pad17h0123456789abcdefE\n"
        "0000000000001060 00000020 t _RNvCs1234_7mycrate3foo\n",
                      older[] =
                          "00000000000004e0 P getpid\n0000000000000540 P __dynsym_end\n"
                          "0000000000000540 T _start\n00000000000007b9 T __sym_end\n";

    emit((const uint8_t *)text, sizeof(text) - 1);
    emit((const uint8_t *)older, sizeof(older) - 1);
}
