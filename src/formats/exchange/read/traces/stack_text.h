/* Printed stack traces as exceptions of a dictionary, and back.
 *
 * A frame of Java ("at com.example.Dao.query(Dao.java:40)") becomes a class, method, file and
 * line; any other line is stored as printed. "Caused by: " begins the exception that caused
 * the one before.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_TRACES_STACK_TEXT_H
#define CN_FORMATS_EXCHANGE_READ_TRACES_STACK_TEXT_H

#include <stdint.h>

#include "base/bytes/bytes.h"

struct cn_text;
struct cn_words;

enum {
    CN_STACK_FRAME_MAX = 4096, /* of one exception; the rest is only counted */
    CN_STACK_CAUSE_MAX = 64,   /* of one text; more causes are lines of the last */
};

/* The word of the exception. Its class and message are words, or both 0: then they are read
 * from the text. The text must not be part of the dictionary. */
uint32_t cn_stack_text_add(struct cn_words *words, uint32_t class, uint32_t message,
                           struct cn_bytes text);

/* Append the frames of an exception, then its causes: what cn_stack_text_add() reads. */
void cn_stack_text_print(const struct cn_words *words, uint32_t exception,
                         struct cn_text *out);

#endif
