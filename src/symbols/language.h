/* The languages of functions in samples.
 *
 * Threads: any thread.
 */
#ifndef CN_SYMBOLS_LANGUAGE_H
#define CN_SYMBOLS_LANGUAGE_H

/* The values are stored in files. */
enum cn_language {
    CN_LANGUAGE_NATIVE = 0, /* C, C++, and what is unknown */
    CN_LANGUAGE_PYTHON = 1,
    CN_LANGUAGE_JAVA = 2,
    CN_LANGUAGE_JAVASCRIPT = 3,
    CN_LANGUAGE_GO = 4,
    CN_LANGUAGE_RUST = 5,
    CN_LANGUAGE_RUBY = 6,
    CN_LANGUAGE_PHP = 7,
    CN_LANGUAGE_PERL = 8,
};
enum { CN_LANGUAGE_COUNT = CN_LANGUAGE_PERL + 1 };

/* "python", "java"; "native" for any other value. */
const char *cn_language_name(enum cn_language language);

#endif
