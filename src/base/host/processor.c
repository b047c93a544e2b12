#include "base/host/processor.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* The value of a line "KEY\t: VALUE". */
static const char *value_of(char *line, const char *key)
{
    char *value = line + strlen(key);

    if (strncmp(line, key, strlen(key)) != 0)
        return NULL;
    value += strspn(value, "\t :");
    value[strcspn(value, "\n")] = '\0';
    return value;
}

/* aarch64 has numbers instead of a name. */
void cn_processor_print(struct cn_text *text)
{
    static const char *const keys[] = {"model name", "CPU implementer", "CPU part"};
    static const char *const shown[] = {"", "implementer ", ", part "};
    FILE *file = fopen("/proc/cpuinfo", "re");
    size_t seen = 0;
    char line[512];

    while (file && fgets(line, sizeof(line), file) && !(seen & 1) && seen != 6)
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
            const char *value = value_of(line, keys[i]);

            if (!value || seen >> i & 1)
                continue;
            seen |= (size_t)1 << i;
            cn_text_printf(text, "%s%s", shown[i], value);
        }
    if (file)
        (void)fclose(file);
}
