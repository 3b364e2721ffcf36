"""`tf1to2 convert-checkpoint`: makes or reads a map, prints the plan, converts.

The source may be name-based (`tf.train.Saver`) or object-based (`tf.train.Checkpoint`),
and so may the result. A template (`--like`) is a checkpoint that the new program has
written, for example before training: then each of its tensors must be filled, with its
dtype and shape, and its graph of objects is kept.
"""

import os

from tf1to2.checkpoint import maps
from tf1to2.checkpoint.following import make_plan
from tf1to2.checkpoint.plan import as_json
from tf1to2.checkpoint.stored import Checkpoint, tensorflow
from tf1to2.checkpoint.writing import write
from tf1to2.common import output
from tf1to2.common.errors import CommandError

AUTO = "auto"


def add_arguments(parser):
    """Adds the command's own arguments."""
    parser.add_argument("source", metavar="SRC", help="old checkpoint, or its folder")
    parser.add_argument("target", metavar="DST", help="checkpoint to write")
    parser.add_argument(
        "--map",
        metavar="map.json",
        default=AUTO,
        help="map of old names to new places; auto (default): match by names",
    )
    parser.add_argument(
        "--like",
        metavar="CHECKPOINT",
        help="checkpoint of the new program: a template of the result",
    )
    parser.add_argument(
        "--names",
        metavar="names.json",
        help='file of renamed variables: {"old name": "attribute path or new name"}',
    )
    parser.add_argument(
        "--format",
        choices=maps.FORMATS,
        help="format of the result without --map and --like (default: objects)",
    )
    parser.add_argument(
        "--write-map", metavar="FILE", help="write the map, for you to edit"
    )
    parser.add_argument("--dry-run", action="store_true", help="only print the plan")
    parser.add_argument("--force", action="store_true", help="replace existing files")
    parser.set_defaults(run=run)


def run(options):
    """Runs the command: converts, or prints why it cannot.

    Returns:
        0; 1 if tensors are unaccounted for, and nothing was written.
    """
    tensorflow()
    plan = _plan(options)
    print(plan.text())
    if options.write_map:
        if os.path.exists(options.write_map) and not options.force:
            raise CommandError(f"{options.write_map} exists: add --force to replace it")
        output.save(options.write_map, as_json(plan.whole()) + "\n")
        print(f"wrote {options.write_map}: the map")
    if plan.problems:
        if plan.open or plan.unfilled:
            print(
                '\ncopy to a map, and fill in each "":\n' + as_json(plan.left()) + "\n"
            )
            if plan.unfilled:
                print(
                    'in "new", replace "" by "like" to keep the value of the template\n'
                )
        print("nothing written: {}".format("; ".join(plan.summary())))
        return 1
    write(plan, options.target, options.force, options.dry_run)
    if options.dry_run:
        print(f"{options.target} could be written: {len(plan.moves)} tensors")
    else:
        print(f"wrote {options.target}: {len(plan.moves)} tensors")
    return 0


def _plan(options):
    made = options.map == AUTO
    if made and not (options.like or options.names):
        raise CommandError("--map auto needs --like CHECKPOINT or --names names.json")
    if options.format and not made:
        raise CommandError('--format is only for --map auto: put "format" into the map')
    mapping = None if made else maps.read_map(options.map)
    names = maps.read_names(options.names) if options.names else None
    if names and not (made or mapping["auto"]):
        raise CommandError(f'--names needs "auto": true in {options.map}')
    source = Checkpoint(options.source)
    like = Checkpoint(options.like) if options.like else None
    if made:
        format_ = options.format or (like.format if like else "objects")
        mapping = maps.empty_map(format_)
    elif mapping["auto"] and not (like or names):
        raise CommandError(f'{options.map}: "auto" needs --like or --names')
    return make_plan(source, mapping, like, names)
