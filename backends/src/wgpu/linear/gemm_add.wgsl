// Factors are whole where the operands are integers.

fn of_floats(product: A, c: B) -> T { return T(params.alpha) * product + T(params.beta) * c; }

fn of_integers(product: A, c: B) -> T { return whole(params.alpha) * product + whole(params.beta) * c; }
