"""What explaining and training cost, beside what people use instead, measured in one run: `make bench`.

Every question is one JSON file in the output folder; what is there is not measured again. Actions of a question take
turns, so that a busy moment hits them all, and ratios are those of the same round.
"""
