// What the invocations of a workgroup tell each other.
var<workgroup> told: array<T, 64>;

// A number of each invocation, combined into one. It is invocation 0 that gets it.
fn by_memory(own: T, local: u32) -> T {
    told[local] = own;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half >>= 1u) {
        if (local < half) { told[local] = combine(told[local], told[local + half]); }
        workgroupBarrier();
    }
    return told[local];
}
