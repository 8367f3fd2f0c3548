"""What torch.profiler's key_averages() makes of a recording. Usage: make_reference.py OUTPUT.json

Made-up events, whose table is the same in every run, and operators that are really recorded, of which names, counts, bytes,
floating-point operations and shapes are.
"""

import json
import random
import sys

import torch
from torch.autograd.profiler_util import EventList, FunctionEvent

TABLES = {
    "plain": {},
    "by self time": {"sort_by": "self_cpu_time_total"},
    "three by total": {"sort_by": "cpu_time_total", "row_limit": 3},
    "by count, with a header": {"sort_by": "count", "header": "a training"},
    "by memory": {"sort_by": "cpu_memory_usage", "row_limit": -1},
    "in ms, short names": {"time_unit": "ms", "max_name_column_width": 12},
    "top level": {"top_level_events_only": True, "time_unit": "s"},
}


def made_up(seed):
    """Calls inside of calls, on two threads; some call another of their own name, some end elsewhere."""
    random.seed(seed)
    names = ["aten::add", "aten::matmul", "aten::a_rather_long_name_that_does_not_fit_into_a_column_of_the_table", "step"]
    events = []

    def call(thread, begin, end, depth, name):
        shapes = random.choice([[], [[2, 3], []], [[8]]])
        events.append({"name": name, "thread": thread, "start_us": begin, "end_us": end, "is_async": random.random() < 0.05,
                       "cpu_memory_usage": random.choice([0, 12, -700, 5000, 3 << 20, 2 << 30]),
                       "flops": random.choice([0, 0, 900, 12_000_000]), "input_shapes": shapes})
        inside = random.choice([0, 1, 1, 2, 3]) if depth < 4 else 0
        cuts = sorted(random.randint(int(begin), int(end)) for _ in range(2 * inside))
        for i in range(inside):
            call(thread, cuts[2 * i], cuts[2 * i + 1], depth + 1, name if random.random() < 0.4 else random.choice(names))

    for thread in (1, 2):
        for i in range(4):
            call(thread, i * 500_000 + thread, i * 500_000 + random.randint(1000, 400_000), 0, random.choice(names))
    return sorted(events, key=lambda event: [event["start_us"], -event["end_us"]])


def averages(events):
    functions = EventList([FunctionEvent(id=i, use_device=None, overload_name="", stack=[], is_user_annotation=False, **event)
                           for i, event in enumerate(events)], use_device=None, profile_memory=True, with_flops=True)
    functions._build_tree()
    return functions


def computation():
    x, w = torch.ones(8, 16), torch.ones(16, 4, requires_grad=True)
    for _ in range(3):
        loss = (x @ w).relu().sum()
    loss.backward(torch.ones(()))
    y = torch.ones(5)
    torch.add(y, y).mul_(y)  # tensors only: numbers, and the first gradient, are made by other operators in C++


def recorded():
    computation()  # what is done only once, such as the start of threads, is over
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
                                with_flops=True) as profile:
        computation()
    describe = lambda event: {"count": event.count, "memory": event.cpu_memory_usage, "self memory": event.self_cpu_memory_usage,
                              "flops": event.flops}
    by_shapes = [[event.key, str(event.input_shapes), event.count] for event in profile.key_averages(group_by_input_shape=True)]
    return {"operators": {event.key: describe(event) for event in profile.key_averages()}, "by shapes": sorted(by_shapes)}


def main(output):
    lists = []
    for seed in range(2):
        events = made_up(seed)
        functions = averages(events)
        tables = {name: functions.key_averages().table(**options) for name, options in TABLES.items()}
        tables["by shapes"] = functions.key_averages(group_by_input_shapes=True).table(sort_by="self_cpu_memory_usage")
        lists.append({"events": events, "tables": tables})
    with open(output, "w") as file:
        json.dump({"options": TABLES, "made up": lists, "recorded": recorded()}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
