#include "sampler/kernel/interrupts.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "sampler/kernel/shared.h"

/* Between two symbols; or a function, up to the next symbol. */
static const struct {
    const char *begin, *end;
} names[CN_KERNEL_INTERRUPTS] = {
    {"__irqentry_text_start", "__irqentry_text_end"},
    {"__softirqentry_text_start", "__softirqentry_text_end"},
    {"handle_softirqs", NULL},
    {"__do_softirq", NULL},
};

bool cn_kernel_interrupts_parse(struct cn_kernel_interrupts *out, FILE *symbols)
{
    char line[512], name[128];
    uint64_t address;

    *out = (struct cn_kernel_interrupts){0};
    while (fgets(line, sizeof(line), symbols)) {
        /* Without rights, all addresses are 0. Modules come last. */
        if (sscanf(line, "%" SCNx64 " %*c %127s", &address, name) != 2 || address == 0)
            continue;
        if (strchr(line, '['))
            break;
        for (size_t i = 0; i < CN_KERNEL_INTERRUPTS; i++) {
            if (strcmp(name, names[i].begin) == 0)
                out->list[i].begin = address;
            else if (names[i].end ? strcmp(name, names[i].end) == 0
                                  : out->list[i].end == 0 && out->list[i].begin != 0 &&
                                        address > out->list[i].begin)
                out->list[i].end = address;
        }
    }
    return out->list[0].begin != 0 && out->list[0].begin < out->list[0].end &&
           (out->list[2].end != 0 || out->list[3].end != 0 || out->list[1].end != 0);
}

bool cn_kernel_interrupts_read(struct cn_kernel_interrupts *out)
{
    FILE *symbols = fopen("/proc/kallsyms", "re");
    bool ok = symbols && cn_kernel_interrupts_parse(out, symbols);

    if (symbols)
        (void)fclose(symbols);
    return ok;
}
