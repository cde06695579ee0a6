// Elements are shifted by their maximum, so that the exponential does not overflow.

fn exponential(x: A, most: B) -> T { return f_exp(x - most); }

fn quotient(exp: A, sum: B) -> T { return exp / sum; }

fn logarithm(x: A, most: B, sum: C) -> T { return x - most - f_log(sum); }

fn at_position(place: A, position: B) -> T { return select(T(0), T(1), place == position); }
