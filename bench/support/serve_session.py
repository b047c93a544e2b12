"""A long random session with `cairn serve`: any question about a database or recording, in any order,
as people and scripts ask them."""
import time

METRIC_MAX = 4
REFUSALS = (404, 422)  # a context without source or function, more boxes than can be drawn
VIEWS = ("top-down", "collapsed", "bottom-up", "flat")


class Session:
    """Asks one random question after the other; remembers rows that it has seen, to ask about."""

    def __init__(self, clock, info, random_source):
        self.clock, self.info, self.random = clock, info, random_source
        self.rows = {}
        self.names = []
        self.metrics = [one["name"] for one in info["metrics"] if one["isVisible"]][:METRIC_MAX]
        self.threads = max(1, info["threadCount"])

    def columns(self):
        """A metric and a selection of threads, mostly all of them."""
        chosen = {}
        if self.metrics and self.random.random() < 0.5:
            chosen["metric"] = self.random.choice(self.metrics)
        if self.random.random() < 0.3:
            first = self.random.randint(1, self.threads)
            count = self.random.choice((1, 1, 50, self.threads))
            chosen["thread"] = f"{first}-{min(self.threads, first + count - 1)}"
        if self.info["hasLatencies"] and self.random.random() < 0.1:
            chosen["percentiles"] = 1
        return chosen

    def part_of_time(self):
        duration = self.info["duration"]
        span = max(1, min(duration, int(duration / 10 ** self.random.uniform(0, 4))))
        begin = self.random.randrange(0, max(1, duration - span))
        return {"begin": begin, "end": begin + span}

    def ask(self, kind, question, refusals=(), **parameters):
        """As the page does: a first answer that is an estimate is shown, and asked for again."""
        answer = first = self.clock.ask(kind, question, refusals, **parameters)
        while isinstance(answer, dict) and answer.get("isPartial"):
            answer = self.clock.ask(f"{kind}, refined", question, refusals, **parameters)
        return answer or first

    def ask_rows(self):
        view, columns = self.random.choice(VIEWS), self.columns()
        key = (view, tuple(sorted(columns.items())))
        known = self.rows.setdefault(key, [])
        asked = {"row": self.random.choice(known)} if known and self.random.random() < 0.8 else {}
        answer = self.ask(f"rows, {view}", "rows", (400,) if asked else (), view=view,
                                **columns, **asked)
        if answer is None:  # the view was given up meanwhile, and its rows are counted anew
            known.clear()
            return
        known += [row["id"] for row in answer["rows"] if not row["isLeaf"]][:20]
        self.names += [row["label"] for row in answer["rows"][:2]]

    def a_context(self):
        known = self.rows.get(("top-down", ()))
        if not known:
            rows = self.ask("rows, top-down", "rows")["rows"]
            known = self.rows[("top-down", ())] = [row["id"] for row in rows]
        return self.random.choice(known)

    def ask_search(self):
        name = self.random.choice(self.names or ["a"])
        pattern = "".join(char if char.isalnum() or char == "_" else "." for char in name)[:30]
        view = self.random.choice(VIEWS)
        self.ask(f"search, {view}", "search", view=view, limit=100,
                       q=pattern[: self.random.randint(1, 30)], **self.columns())

    def ask_flame(self):
        self.ask("flame graph", "flame", view=self.random.choice(VIEWS), **self.columns())

    def ask_context(self):
        question = self.random.choice(("context", "source", "function"))
        self.ask(question, question, REFUSALS, row=self.a_context(), **self.columns())

    def ask_timeline(self):
        stacks = self.random.choice(({"nested": 1}, {"nested": 1}, {"depth": 0}, {"depth": 3}))
        first = self.random.randrange(0, self.threads)
        asked = {**self.part_of_time(), **stacks, "first": first, "count": 40, "snap": 1}
        if "nested" in stacks:  # as the page does: the first answer has fewer columns
            self.ask("timeline, nested, first", "timeline", **asked, columns=500)
        self.ask("timeline, nested" if "nested" in stacks else "timeline", "timeline", **asked,
                 columns=1200)

    def ask_stack(self):
        self.ask("stack", "stack", profile=self.random.randint(1, self.threads),
                       time=self.random.randrange(0, self.info["duration"]))

    def ask_range(self):
        count = self.random.choice((1, 50, self.threads))
        first = self.random.randint(1, self.threads)
        thread = f"{first}-{min(self.threads, first + count - 1)}"
        self.ask("range", "range", REFUSALS, **self.part_of_time(), thread=thread)

    def ask_little(self):
        question = self.random.choice(("info", "threads", "hot-path"))
        self.ask(question, question)

    def run(self, count):
        questions = [self.ask_rows] * 4 + [self.ask_search, self.ask_flame, self.ask_context,
                                           self.ask_little]
        if self.info["hasTimelines"]:
            questions += [self.ask_timeline] * 2 + [self.ask_stack, self.ask_range]
        for _ in range(count):
            self.random.choice(questions)()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def print_three(values):
    """Half, 99 of 100, and all of the answers took at most so long."""
    return "/".join(f"{value:.1f}" for value in
                    (percentile(values, 0.5), percentile(values, 0.99), max(values))) + " ms"


def print_waits(row, title, values, target):
    row(title, f"half {percentile(values, 0.5):.1f} ms",
        f"p99 {percentile(values, 0.99):.1f} ms, most {max(values):.1f} ms", f"<= {target} ms")


def print_session(row, clock, count, targets):
    """What the first answers of a session took: processor time of the thread that answers, of all
    threads of the server, and until they were there."""
    groups = (("answers", clock.costs), ("server", clock.work), ("until answered", clock.waits))
    for (name, kinds), target in zip(groups, targets):
        print_waits(row, f"session of {count}, {name}", [cost for costs in kinds.values() for cost in costs], target)
    row("  half/p99/most of", "processor, server", "until answered", "")
    for kind in sorted(clock.waits, key=lambda kind: -percentile(clock.work[kind], 0.99)):
        row(f"  {kind}", print_three(clock.work[kind]), print_three(clock.waits[kind]),
            f"of {len(clock.waits[kind])}")


def wait_for_warm_up(service, seconds=30):
    """What is prepared from the start is there when a search is answered at once."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status, _, _ = service.ask_once("/api/v1/sources/0/search?q=a")
        if status == 200:
            return
        time.sleep(0.05)
