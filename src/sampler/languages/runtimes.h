/* The run-times of languages that are known, one for each file here.
 * Threads: immutable.
 */
#ifndef CN_SAMPLER_LANGUAGES_RUNTIMES_H
#define CN_SAMPLER_LANGUAGES_RUNTIMES_H

#include "sampler/languages/languages.h"

extern const struct cn_language_runtime cn_language_erlang;
extern const struct cn_language_runtime cn_language_go;
extern const struct cn_language_runtime cn_language_java;
extern const struct cn_language_runtime cn_language_python;
extern const struct cn_language_runtime cn_language_javascript;
extern const struct cn_language_runtime cn_language_pcre;
extern const struct cn_language_runtime cn_language_perl;
extern const struct cn_language_runtime cn_language_php;
extern const struct cn_language_runtime cn_language_ruby;
extern const struct cn_language_runtime cn_language_unsupported;

#endif
