"""What is wrong, and how many doors were asked: see one_truth."""
import time


FUNCTIONS = ["main", "thread", "work", "middle", "leaf", "recurse", "_exit"]


class Check:
    def __init__(self):
        self.doors, self.failures = 0, []

    def same(self, door, expected, shown, sides=("total", "self"), names=FUNCTIONS, share=1e-6):
        self.doors += 1
        for name in names:
            for side, want, got in zip(("total", "self"), expected.of(name), shown.of(name)):
                # Numbers in seconds and milliseconds are rounded to a nanosecond for each row.
                if side in sides and abs(want - got) > max(200, want * share):
                    self.failures.append(f"{door}: {name} has {side} {got:.0f} ns, report {want:.0f} ns")

    def that(self, is_true, text):
        if not is_true:
            self.failures.append(text)


def answered(service, question, **asked):
    """What is computed on the side, when it is there."""
    answer = service.get(question, **asked)
    while answer["isPending"]:
        time.sleep(0.01)
        answer = service.get(question, **asked)
    return answer
