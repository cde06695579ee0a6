// The value at a place of the new axis. Unsigned indices cannot count from the end.

fn of_unsigned(place: A, index: B, off: T, on: T, depth: E) -> T { return select(off, on, place == index); }

fn of_signed(place: A, index: B, off: T, on: T, depth: E) -> T {
    return select(off, on, place == select(index, index + depth, index < B(0)));
}
