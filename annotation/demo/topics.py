"""Information needs of programmers, written for the demo. The last ones contain problems for the
topic check to find."""

from __future__ import annotations

from typing import NamedTuple


class DemoTopic(NamedTuple):
    topic: str
    text: str
    description: str


TOPICS = [
    DemoTopic("1", "read a csv file", "How do I read rows of comma-separated values from a file?"),
    DemoTopic(
        "2",
        "parse command line arguments",
        "Declare the options of a script and read what the user typed.",
    ),
    DemoTopic(
        "3",
        "convert string to date",
        "Turn a text such as 2024-05-01 into a date or datetime object.",
    ),
    DemoTopic(
        "4", "temporary file", "Create a file or folder that disappears by itself after use."
    ),
    DemoTopic(
        "5",
        "random sample without replacement",
        "Choose some elements of a list at random, none of them twice.",
    ),
    DemoTopic("6", "compress data with gzip", "Write or read files compressed in the gzip format."),
    DemoTopic(
        "7", "run a subprocess and capture output", "Start another program and get what it printed."
    ),
    DemoTopic(
        "8", "regular expression replace", "Substitute the matches of a pattern in a string."
    ),
    DemoTopic("9", "sort a list by key", "Order elements by a computed value; stable sorting."),
    DemoTopic(
        "10",
        "binary search in sorted list",
        "Find the position of a value, or where to insert it, in an ordered list.",
    ),
    DemoTopic(
        "11", "priority queue heap", "Keep items so that the smallest can be taken out fast."
    ),
    DemoTopic("12", "http get request", "Fetch the content of a web address."),
    DemoTopic("13", "send an email", "Compose a message and hand it to a mail server."),
    DemoTopic(
        "14", "json encode and decode", "Write Python objects as JSON text and read them back."
    ),
    DemoTopic(
        "15", "thread lock", "Protect shared data from being changed by two threads at once."
    ),
    DemoTopic("16", "process pool", "Spread function calls over several processors."),
    DemoTopic("17", "context manager", "Write an object that can be used in a with statement."),
    DemoTopic("18", "measure execution time", "Find out how long a piece of code takes."),
    DemoTopic("19", "hash a password", "Derive a key or digest from a secret safely."),
    DemoTopic("20", "walk directory tree", "Visit all files in a folder and the folders below it."),
    DemoTopic(
        "21",
        "unicode normalization",
        "Bring characters that look alike into one form; look up properties of characters.",
    ),
    DemoTopic(
        "22",
        "mean and standard deviation",
        "Describe a sample of numbers by its centre and spread.",
    ),
    DemoTopic(
        "23",
        "decimal arithmetic rounding",
        "Calculate with exact decimal fractions and choose how they are rounded.",
    ),
    DemoTopic(
        "24",
        "combinations and permutations",
        "Generate all selections or orders of the elements of a sequence.",
    ),
    DemoTopic("25", "parse xml document", "Read XML and find elements in the tree."),
    DemoTopic(
        "26",
        "copy file with metadata",
        "Copy files, keeping permissions and times; copy whole trees.",
    ),
    DemoTopic(
        "27", "log messages to a file", "Record what a program does, with levels, into a file."
    ),
    DemoTopic("28", "sqlite database query", "Execute SQL statements in a local database."),
    DemoTopic(
        "29",
        "mock object in unit test",
        "Replace parts of the system under test and check how they were called.",
    ),
    DemoTopic(
        "30", "time zone conversion", "Convert times between local time, UTC and other zones."
    ),
    DemoTopic("31", "socket server", "Accept network connections and answer them."),
    DemoTopic(
        "32",
        "asynchronous queue",
        "Pass items between coroutines, waiting when the queue is empty or full.",
    ),
    DemoTopic(
        "33",
        "memoize function results",
        "Remember what a function returned for the same arguments.",
    ),
    DemoTopic("34", "weak reference", "Refer to an object without keeping it alive."),
    DemoTopic(
        "35", "Read a CSV file", "The same need as topic 1 in other letters: a duplicate by case."
    ),
    DemoTopic("36", "temporary files", "The plural of topic 4."),
    DemoTopic("37", "#1 or #2", "A combination of sets without any text of its own."),
]
