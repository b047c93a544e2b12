#include "base/suggest.h"

#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 63 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t cn_edit_distance(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b);
    /* Row i has the distances of a's first i letters to every prefix of b. A swap looks two
     * rows back. */
    size_t rows[3][WORD_MAX + 1];

    if (a_len > WORD_MAX || b_len > WORD_MAX)
        return SIZE_MAX;
    for (size_t k = 0; k <= b_len; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];

        row[0] = i;
        for (size_t k = 1; k <= b_len; k++) {
            size_t change = above[k - 1] + (a[i - 1] != b[k - 1]);

            row[k] = smaller(change, smaller(above[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = smaller(row[k], rows[(i - 2) % 3][k - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

void cn_suggestion_offer(struct cn_suggestion *suggestion, const char *known)
{
    size_t distance = cn_edit_distance(suggestion->typed, known);
    size_t allowed = strlen(suggestion->typed) / 3;

    if (distance > (allowed ? allowed : 1))
        return;
    if (!suggestion->best || distance < suggestion->distance) {
        suggestion->best = known;
        suggestion->distance = distance;
    }
}
