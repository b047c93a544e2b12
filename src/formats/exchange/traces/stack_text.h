/* Stack traces as programs print them, made exceptions of a dictionary.
 *
 * Frames as Java prints them ("at com.example.Dao.query(Dao.java:40)") become class, method,
 * file and line; any other line is kept as it is. "Caused by: " begins an exception that
 * caused the one before.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_TRACES_STACK_TEXT_H
#define CN_FORMATS_EXCHANGE_TRACES_STACK_TEXT_H

#include <stdint.h>

#include "base/bytes/bytes.h"

struct cn_words;

enum {
    CN_STACK_FRAME_MAX = 4096, /* of one exception; then only how many there are */
    CN_STACK_CAUSE_MAX = 64,   /* of one text; further ones are lines of the last */
};

/* The number of the exception. Its class and message, words too, are taken from the text
 * when both are 0. The text must not lie in the dictionary. */
uint32_t cn_stack_text_add(struct cn_words *words, uint32_t class, uint32_t message,
                           struct cn_bytes text);

#endif
