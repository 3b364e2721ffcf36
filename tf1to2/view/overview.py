"""`tf1to2 topics`: lists the topics, their pairs and their recordings."""

from tf1to2.common.tables import table
from tf1to2.pages import topics


def add_arguments(parser):
    parser.set_defaults(run=run)


def run(_):
    rows = [
        (name, str(len(topic.pairs)), topic.recording, topic.lesson)
        for name, topic in topics.topics().items()
    ]
    print(table(("topic", "pairs", "1.15.5 recording", "teaches"), rows))
    return 0
