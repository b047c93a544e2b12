#include "support/requests.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    TAG_STRING = 0xc1,
    TAG_METHOD = 0xc2,
    TAG_START = 0xc3,
    TAG_END = 0xc4,
    TAG_BEGIN = 0xc5,
    TAG_ATTR = 0xc6,
    TAG_EXCEPTION = 0xc7,

    FLAGS_TRACE = 0x2108,
    FLAGS_ERROR = 0x310a,

    CLASSES = 900,
    METHODS_OF_CLASS = CN_REQUESTS_METHODS / CLASSES,
    SIGNATURES = 40,
    EXCEPTIONS = 20,
    PAGES = 200,
    DEPTH_MAX = 24,
    STACK_ITEMS = 12,
};

/* Ids of symbols: fixed strings, then signatures, exceptions, classes and methods. */
enum {
    SYMBOL_FIXED = 1,
    SYMBOL_SIGNATURE = 100,
    SYMBOL_EXCEPTION = SYMBOL_SIGNATURE + SIGNATURES,
    SYMBOL_CLASS = 1000,
    SYMBOL_METHOD = SYMBOL_CLASS + CLASSES,
};

enum fixed {
    TYPE_HTTP,
    COMPONENT,
    SERVICE,
    HTTP_METHOD,
    HTTP_URL,
    HTTP_STATUS,
    USER_ID,
    SESSION_ID,
    REQUEST_ID,
    DB_STATEMENT,
    SOURCE_FILE,
    FIXED_COUNT,
};

static const char *const fixed_names[FIXED_COUNT] = {
    [TYPE_HTTP] = "http",        [COMPONENT] = "component",
    [SERVICE] = "service",       [HTTP_METHOD] = "http.method",
    [HTTP_URL] = "http.url",     [HTTP_STATUS] = "http.status",
    [USER_ID] = "user.id",       [SESSION_ID] = "session.id",
    [REQUEST_ID] = "request.id", [DB_STATEMENT] = "db.statement",
    [SOURCE_FILE] = "Shop.java",
};

static const char *const parts[] = {
    "cart", "order", "item", "user", "search", "price", "stock", "mail", "page", "cache",
};
static const char *const roles[] = {
    "Service", "Dao",     "Filter", "Mapper", "Servlet",
    "Handler", "Factory", "Helper", "Job",
};
static const char *const verbs[] = {
    "get", "find", "load", "store", "update", "check", "map", "render", "send", "close",
};
static const char *const services[] = {"shop", "checkout", "catalog", "account"};
static const char *const http_methods[] = {"GET", "GET", "GET", "POST", "PUT"};

enum {
    PARTS = sizeof(parts) / sizeof(parts[0]),
    ROLES = sizeof(roles) / sizeof(roles[0])
};

static uint64_t draw(struct cn_requests *requests)
{
    uint64_t x = requests->state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t draw_below(struct cn_requests *requests, uint64_t limit)
{
    return ((draw(requests) >> 32) * limit) >> 32; /* limits are below 2^32 */
}

static double draw_fraction(struct cn_requests *requests)
{
    return (double)(draw(requests) >> 11) * 0x1p-53;
}

static void add_byte(struct cn_text *text, unsigned byte)
{
    cn_text_char(text, (char)byte);
}

/* A CBOR item: its kind in the upper three bits, its number as short as it fits. */
static void add_head(struct cn_text *text, unsigned kind, uint64_t number)
{
    unsigned size = number < 24            ? 0
                    : number <= UINT8_MAX  ? 1
                    : number <= UINT16_MAX ? 2
                    : number <= UINT32_MAX ? 4
                                           : 8;
    static const unsigned char codes[] = {[1] = 24, [2] = 25, [4] = 26, [8] = 27};

    add_byte(text, kind << 5 | (size == 0 ? (unsigned)number : codes[size]));
    while (size-- > 0)
        add_byte(text, (number >> (8 * size)) & 0xff);
}

static void add_number(struct cn_text *text, uint64_t number)
{
    add_head(text, 0, number);
}

static void add_string(struct cn_text *text, const char *str)
{
    add_head(text, 3, strlen(str));
    cn_text_str_add(text, str);
}

static void add_symbol(struct cn_requests *requests, uint64_t id, const char *str)
{
    add_byte(&requests->symbols, TAG_STRING);
    add_head(&requests->symbols, 4, 2);
    add_number(&requests->symbols, id);
    add_string(&requests->symbols, str);
}

static void add_fixed_symbols(struct cn_requests *requests)
{
    char name[80];

    for (unsigned i = 0; i < FIXED_COUNT; i++)
        add_symbol(requests, SYMBOL_FIXED + i, fixed_names[i]);
    for (unsigned i = 0; i < SIGNATURES; i++) {
        (void)snprintf(name, sizeof(name),
                       "(Ljava/lang/String;I)Lcom/example/shop/Type%u;", i);
        add_symbol(requests, SYMBOL_SIGNATURE + i, name);
    }
    for (unsigned i = 0; i < EXCEPTIONS; i++) {
        (void)snprintf(name, sizeof(name), "com.example.shop.%s.Failed%uException",
                       parts[i % PARTS], i);
        add_symbol(requests, SYMBOL_EXCEPTION + i, name);
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        (void)snprintf(name, sizeof(name), "com.example.shop.%s.%s%u", parts[i % PARTS],
                       roles[i / PARTS % ROLES], i);
        add_symbol(requests, SYMBOL_CLASS + i, name);
    }
    requests->has_symbols = true;
}

static void add_method_symbols(struct cn_requests *requests, unsigned method)
{
    unsigned class = method / METHODS_OF_CLASS, verb = method % METHODS_OF_CLASS;
    uint8_t bit = (uint8_t)(1U << method % 8);
    char name[40];

    if (requests->known[method / 8] & bit)
        return;
    requests->known[method / 8] |= bit;
    (void)snprintf(name, sizeof(name), "%s%c%s", verbs[verb],
                   parts[class / 7 % PARTS][0] - 'a' + 'A', parts[class / 7 % PARTS] + 1);
    add_symbol(requests, SYMBOL_METHOD + method, name);
    add_byte(&requests->symbols, TAG_METHOD);
    add_head(&requests->symbols, 4, 4);
    add_number(&requests->symbols, method + 1);
    add_number(&requests->symbols, SYMBOL_CLASS + class);
    add_number(&requests->symbols, SYMBOL_METHOD + method);
    add_number(&requests->symbols, SYMBOL_SIGNATURE + method % SIGNATURES);
}

static void add_attribute(struct cn_requests *requests, enum fixed key, const char *value)
{
    add_byte(&requests->trace, TAG_ATTR);
    add_head(&requests->trace, 4, 2);
    add_number(&requests->trace, SYMBOL_FIXED + key);
    add_string(&requests->trace, value);
}

static void add_start(struct cn_requests *requests, uint64_t time_ns, unsigned method)
{
    add_method_symbols(requests, method);
    add_byte(&requests->trace, TAG_START);
    add_byte(&requests->trace, 0x9f);
    add_number(&requests->trace, time_ns);
    add_number(&requests->trace, method + 1);
}

static void add_end(struct cn_requests *requests, uint64_t time_ns, uint64_t calls,
                    bool has_failed)
{
    add_byte(&requests->trace, TAG_END);
    add_head(&requests->trace, 4, 3);
    add_number(&requests->trace, time_ns);
    add_number(&requests->trace, calls);
    add_number(&requests->trace, has_failed ? FLAGS_ERROR : FLAGS_TRACE);
    add_byte(&requests->trace, 0xff);
}

static void add_root(struct cn_requests *requests, unsigned page, bool has_failed)
{
    static const char *const statuses[] = {"200", "200", "200", "304", "404"};
    uint64_t user = draw_below(requests, 20000);
    char value[80];

    add_byte(&requests->trace, TAG_BEGIN);
    add_head(&requests->trace, 4, 3);
    add_number(&requests->trace,
               CN_REQUESTS_BEGIN_MS + requests->number * CN_REQUESTS_STEP_MS);
    add_number(&requests->trace, SYMBOL_FIXED + TYPE_HTTP);
    add_number(&requests->trace, requests->span_id);

    add_attribute(requests, COMPONENT, "http");
    add_attribute(requests, SERVICE, services[page % 4]);
    add_attribute(requests, HTTP_METHOD, http_methods[draw_below(requests, 5)]);
    (void)snprintf(value, sizeof(value), "/%s/%u?item=%" PRIu64, parts[page % PARTS],
                   page, draw_below(requests, 100));
    add_attribute(requests, HTTP_URL, value);
    add_attribute(requests, HTTP_STATUS,
                  has_failed ? "500" : statuses[draw_below(requests, 5)]);
    (void)snprintf(value, sizeof(value), "u%05" PRIu64, user);
    add_attribute(requests, USER_ID, value);
    (void)snprintf(value, sizeof(value), "%016" PRIx64, draw(requests));
    add_attribute(requests, SESSION_ID, value);
    (void)snprintf(value, sizeof(value), "%" PRIu64, requests->number);
    add_attribute(requests, REQUEST_ID, value);
}

static void add_statement(struct cn_requests *requests, unsigned page)
{
    char value[80];

    (void)snprintf(value, sizeof(value), "SELECT * FROM %ss WHERE owner=%" PRIu64,
                   parts[page % PARTS], draw_below(requests, 1000));
    add_attribute(requests, DB_STATEMENT, value);
}

static void add_exception(struct cn_requests *requests)
{
    uint64_t class = draw_below(requests, EXCEPTIONS);
    char message[80];

    (void)snprintf(message, sizeof(message),
                   "%s %" PRIu64 " is locked by another request", parts[class % PARTS],
                   draw_below(requests, 500));
    add_byte(&requests->trace, TAG_EXCEPTION);
    add_head(&requests->trace, 4, 5);
    add_number(&requests->trace, 1);
    add_number(&requests->trace, SYMBOL_EXCEPTION + class);
    add_string(&requests->trace, message);
    add_number(&requests->trace, 0);
    add_head(&requests->trace, 4, STACK_ITEMS);
    for (unsigned i = 0; i < STACK_ITEMS; i++) {
        unsigned method = (unsigned)(class * 40 + i);

        add_method_symbols(requests, method);
        add_head(&requests->trace, 4, 4);
        add_number(&requests->trace, SYMBOL_CLASS + method / METHODS_OF_CLASS);
        add_number(&requests->trace, SYMBOL_METHOD + method);
        add_number(&requests->trace, SYMBOL_FIXED + SOURCE_FILE);
        add_number(&requests->trace, 10 + 3 * i);
    }
}

/* A page has methods of its own, and all share the rest, some more often than others. */
static unsigned draw_method(struct cn_requests *requests, unsigned page)
{
    double u = draw_fraction(requests);

    if (draw_below(requests, 2) == 0)
        return (page * 43 + (unsigned)draw_below(requests, 300)) % CN_REQUESTS_METHODS;
    return (unsigned)(u * u * CN_REQUESTS_METHODS);
}

struct tree {
    unsigned page;
    unsigned depth;
    uint64_t now_ns;
    uint64_t first[DEPTH_MAX]; /* number of the record that is open at a level */
    uint64_t count;
    bool has_failed;
};

static void close_record(struct cn_requests *requests, struct tree *tree)
{
    tree->depth--;
    tree->now_ns += 200 + draw_below(requests, 5000);
    add_end(requests, tree->now_ns, tree->count - tree->first[tree->depth],
            tree->has_failed);
}

static void open_record(struct cn_requests *requests, struct tree *tree)
{
    tree->now_ns += 100 + draw_below(requests, 2000);
    /* One of a thousand calls waits: durations have a tail. */
    if (draw_below(requests, 1000) == 0)
        tree->now_ns += draw_below(requests, 200000000);
    add_start(requests, tree->now_ns, draw_method(requests, tree->page));
    tree->first[tree->depth++] = tree->count++;
}

static void add_tree(struct cn_requests *requests)
{
    double u = draw_fraction(requests);
    uint64_t least = requests->calls_max ? 1 : CN_REQUESTS_CALLS_MIN;
    uint64_t most = requests->calls_max ? requests->calls_max : CN_REQUESTS_CALLS_MAX;
    uint64_t calls = least + (uint64_t)((double)(most - least) * pow(u, 2.2));
    struct tree tree = {
        .page = (unsigned)draw_below(requests, PAGES),
        .now_ns = requests->number * CN_REQUESTS_STEP_MS * 1000000 + 1,
        .has_failed = draw_below(requests, 50) == 0,
    };
    uint64_t failing = draw_below(requests, calls);

    open_record(requests, &tree);
    add_root(requests, tree.page, tree.has_failed);
    while (tree.count < calls) {
        uint64_t leave = draw_below(requests, 5);

        while (tree.depth > 1 && (leave-- > 2 || tree.depth == DEPTH_MAX))
            close_record(requests, &tree);
        open_record(requests, &tree);
        if (draw_below(requests, 200) == 0)
            add_statement(requests, tree.page);
        if (tree.has_failed && tree.count - 1 == failing)
            add_exception(requests);
    }
    while (tree.depth > 0)
        close_record(requests, &tree);
    requests->records += tree.count;
}

void cn_requests_init(struct cn_requests *requests, uint64_t seed)
{
    *requests = (struct cn_requests){.state = seed};
}

void cn_requests_next(struct cn_requests *requests)
{
    cn_text_clear(&requests->symbols);
    cn_text_clear(&requests->trace);
    if (!requests->has_symbols)
        add_fixed_symbols(requests);
    requests->trace_id[0] = draw(requests) | 1;
    requests->trace_id[1] = draw(requests) | 1;
    requests->span_id = draw(requests) >> 1 | 1;
    add_tree(requests);
    requests->number++;
}

void cn_requests_done(struct cn_requests *requests)
{
    cn_text_done(&requests->symbols);
    cn_text_done(&requests->trace);
}
