#include "symbols/language.h"

const char *cn_language_name(enum cn_language language)
{
    static const char *const names[CN_LANGUAGE_COUNT] = {
        "native", "python", "java", "javascript", "go", "rust", "ruby", "php", "perl"};

    return (unsigned)language < CN_LANGUAGE_COUNT ? names[language] : names[0];
}
