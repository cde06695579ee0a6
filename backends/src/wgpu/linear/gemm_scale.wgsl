// Factors are whole where the operands are integers.

fn of_floats(product: A) -> T { return T(params.alpha) * product; }

fn of_integers(product: A) -> T { return whole(params.alpha) * product; }
