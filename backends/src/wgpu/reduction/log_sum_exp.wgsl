// An infinite maximum shifts nothing: inf - inf would be NaN where the result is infinite.

fn shifted(x: A, most: B) -> T { return f_exp(x - select(most, 0.0, is_inf(most))); }

fn shifted_back(sum: A, most: B) -> T { return f_log(sum) + select(most, 0.0, is_inf(most)); }
