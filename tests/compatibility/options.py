"""The commands of a cairn and their options, from its help."""
import re
import subprocess

OPTION = re.compile(r"^  (?:(-\S), |    )(--[a-z][a-z0-9-]*)", re.M)


def listed(cairn):
    """A line for each option: command, letter if it has one, name."""
    def output(*words):
        return subprocess.run([cairn, *words], capture_output=True, text=True, check=True).stdout
    for command in output("help", "--list").split():
        found = OPTION.findall(output("help", command))
        yield from sorted(" ".join(word for word in (command, letter, name) if word) for letter, name in found)
