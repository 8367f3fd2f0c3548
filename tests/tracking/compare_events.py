"""Reads the event files in DIRECTORY/ours with TensorBoard, lets Python's Accelerate write the same values, and compares.

What was logged stands in DIRECTORY: metrics.jsonl, config.json, numbers.txt (a histogram) and pixels.bin (an image).
"""

import io
import json
import pathlib
import sys

import accelerate
import numpy
import yaml
from accelerate.tracking import TensorBoardTracker
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

directory = pathlib.Path(sys.argv[1])
truth_values = []  # how each side stores the hyperparameter that is true


def write_reference():
    accelerate.PartialState(cpu=True)
    tracker = TensorBoardTracker("python", directory)
    tracker.start()
    tracker.store_init_configuration(json.loads((directory / "config.json").read_text()))
    for line in (directory / "metrics.jsonl").read_text().splitlines():
        values = json.loads(line)
        values.pop("time")
        step = values.pop("step", None)
        tracker.log(values, step=step)
    tracker.tracker.add_histogram("weights", numpy.loadtxt(directory / "numbers.txt"), 7)
    tracker.tracker.add_histogram("zeros", numpy.zeros(3), 7)
    tracker.tracker.add_histogram("one", numpy.array([0.25]), 7)
    tracker.finish()


def run_of(path, root):
    """The directory of an event file below the root, with the time of the hyperparameters' run taken out."""
    run = path.parent.relative_to(root).as_posix()
    return "hparams" if run.replace(".", "").isdigit() else run


def content_of(value):
    if value.metadata.plugin_data.plugin_name == "hparams":
        hparams = HParamsPluginData.FromString(value.metadata.plugin_data.content)
        if "bias" in hparams.session_start_info.hparams:
            truth_values.append(hparams.session_start_info.hparams["bias"].WhichOneof("kind"))
            del hparams.session_start_info.hparams["bias"]
        for info in hparams.experiment.hparam_infos:
            info.type = 0 if info.name == "bias" else info.type
        return str(hparams)
    if value.HasField("histo"):
        # The sums are added up in another order.
        sums = [float(numpy.float32(value.histo.sum)), float(numpy.float32(value.histo.sum_squares))]
        value.histo.sum = value.histo.sum_squares = 0
        return str(value), sums
    return str(value)


def events_of(root):
    """Everything that the event files say, by run: (step, tag, content) in the order it was written."""
    events = {}
    for path in sorted(root.rglob("events.out.tfevents.*")):
        for event in LegacyEventFileLoader(str(path)).Load():
            if event.HasField("file_version"):
                assert event.file_version == "brain.Event:2", event
            for value in event.summary.value:
                if not value.HasField("image"):
                    events.setdefault(run_of(path, root), []).append((event.step, value.tag, content_of(value)))
    return events


def compare_events():
    ours, theirs = events_of(directory / "ours"), events_of(directory / "python")
    assert ours.keys() == theirs.keys(), (ours.keys(), theirs.keys())
    for run in ours:
        assert len(ours[run]) == len(theirs[run]) > 0, (run, len(ours[run]), len(theirs[run]))
        for our_event, their_event in zip(ours[run], theirs[run]):
            assert our_event == their_event, f"{run}:\n{our_event}\n{their_event}"
    assert truth_values == ["bool_value", "number_value"], truth_values


def check_accumulator():
    accumulator = EventAccumulator(str(directory / "ours"), size_guidance={"images": 0, "scalars": 0}).Reload()
    assert len(accumulator.Scalars("loss")) == 21, accumulator.Tags()
    picture = Image.open(io.BytesIO(accumulator.Images("picture")[0].encoded_image_string))
    pixels = numpy.frombuffer((directory / "pixels.bin").read_bytes(), numpy.uint8).reshape(150, 200, 3)
    assert numpy.array_equal(numpy.asarray(picture), pixels)
    grey = Image.open(io.BytesIO(accumulator.Images("grey")[0].encoded_image_string))
    assert numpy.asarray(grey).tolist() == [[0, 255]]


def check_yaml():
    config = json.loads((directory / "config.json").read_text())
    for root in ("ours", "python"):
        (path,) = (directory / root).rglob("hparams.yml")
        assert yaml.safe_load(path.read_text()) == config, path.read_text()


write_reference()
compare_events()
check_accumulator()
check_yaml()
