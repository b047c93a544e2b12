/* The program that `make demo` records: which words do files use, and which files are similar?
 *
 *     demo_words FILE...
 *
 * Three threads read the files, count their words and sort them; then the main thread
 * compares all files pairwise. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/map.h"

enum { WORKERS = 3, ROUNDS = 5 };

struct document {
    const char *path;
    struct cn_names words;
    uint32_t *counts;
    uint32_t *order; /* words by count */
    size_t capacity;
};

struct job {
    struct document *documents;
    size_t count, first;
};

void count_word(struct document *document, const char *word);
void count_words(struct document *document, struct cn_bytes text);
int by_count(const void *left, const void *right, void *arg);
void sort_words(struct document *document);
void read_document(struct document *document);
double similarity(const struct document *a, const struct document *b);
void compare_documents(const struct document *documents, size_t count);
void *work(void *arg);

void count_word(struct document *document, const char *word)
{
    size_t known = document->words.count;
    uint32_t number = cn_names_add(&document->words, word);

    document->counts =
        cn_grow(document->counts, number, &document->capacity, sizeof(*document->counts));
    if (document->words.count > known)
        document->counts[number] = 0;
    document->counts[number]++;
}

void count_words(struct document *document, struct cn_bytes text)
{
    char word[64];
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        bool is_letter = isalpha(text.ptr[i]) || text.ptr[i] == '_';

        if (is_letter && len < sizeof(word) - 1) {
            word[len++] = (char)tolower(text.ptr[i]);
        } else if (len > 0) {
            word[len] = '\0';
            count_word(document, word);
            len = 0;
        }
    }
}

int by_count(const void *left, const void *right, void *arg)
{
    const struct document *document = arg;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (document->counts[a] != document->counts[b])
        return document->counts[a] < document->counts[b] ? 1 : -1;
    return strcmp(document->words.list[a], document->words.list[b]);
}

void sort_words(struct document *document)
{
    document->order =
        cn_realloc(document->order, document->words.count, sizeof(*document->order));
    for (uint32_t i = 0; i < document->words.count; i++)
        document->order[i] = i;
    if (document->words.count > 1)
        qsort_r(document->order, document->words.count, sizeof(*document->order),
                by_count, document);
}

void read_document(struct document *document)
{
    struct cn_file file = {0};
    struct cn_error err;

    if (!cn_file_open(&file, document->path, &err))
        return;
    for (int round = 0; round < ROUNDS; round++)
        count_words(document, file.bytes);
    cn_file_close(&file);
    sort_words(document);
}

void *work(void *arg)
{
    const struct job *job = arg;

    for (size_t i = job->first; i < job->count; i += WORKERS)
        read_document(&job->documents[i]);
    return NULL;
}

/* The fraction of a's words that b also uses. */
double similarity(const struct document *a, const struct document *b)
{
    size_t shared = 0;

    for (size_t i = 0; i < a->words.count; i++)
        for (size_t k = 0; k < b->words.count; k++)
            if (strcmp(a->words.list[i], b->words.list[k]) == 0) {
                shared++;
                break;
            }
    return a->words.count ? (double)shared / (double)a->words.count : 0;
}

void compare_documents(const struct document *documents, size_t count)
{
    const struct document *best[2] = {NULL, NULL};
    double most = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            double share = similarity(&documents[i], &documents[k]);

            if (share <= most)
                continue;
            most = share;
            best[0] = &documents[i];
            best[1] = &documents[k];
        }
    if (best[0])
        printf("%.0f%% of the words of %s are also in %s\n", 100 * most, best[0]->path,
               best[1]->path);
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)argc - 1 : 0;
    struct document *documents = cn_alloc(count, sizeof(*documents));
    struct job jobs[WORKERS];
    pthread_t threads[WORKERS];

    if (count == 0)
        return 2;
    for (size_t i = 0; i < count; i++)
        documents[i].path = argv[i + 1];
    for (size_t i = 0; i < WORKERS; i++) {
        jobs[i] = (struct job){documents, count, i};
        if (pthread_create(&threads[i], NULL, work, &jobs[i]) != 0)
            return 1;
    }
    for (size_t i = 0; i < WORKERS; i++)
        (void)pthread_join(threads[i], NULL);
    compare_documents(documents, count);
    for (size_t i = 0; i < count; i++) {
        cn_names_done(&documents[i].words);
        free(documents[i].counts);
        free(documents[i].order);
    }
    free(documents);
    return 0;
}
