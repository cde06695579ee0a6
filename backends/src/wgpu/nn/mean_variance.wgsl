fn normalized(deviation: A, variance: B) -> T { return deviation / (root(variance) + T(params.epsilon)); }
