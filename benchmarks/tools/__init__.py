"""What the scripts share (records, pages, measuring, stacks), comparisons of two versions, and random tests."""
