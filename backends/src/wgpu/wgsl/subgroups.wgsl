// The subgroup of an invocation: its size, the invocation's number in it, its own in the workgroup, and how many there are.
struct Subgroup {
    size: u32,
    invocation: u32,
    number: u32,
    count: u32,
}

var<private> subgroup: Subgroup;

// As `by_memory`: first within each subgroup, without a word to memory.
fn by_subgroups(own: T, local: u32) -> T {
    var r = own;
    // As often whatever the size: the standard wants all invocations of a subgroup here.
    for (var apart = 1u; apart < 64u; apart <<= 1u) {
        let other = subgroupShuffleXor(r, apart);
        if (apart < subgroup.size) { r = combine(r, other); }
    }
    if (subgroup.invocation == 0u) { told[subgroup.number] = r; }
    workgroupBarrier();
    if (local == 0u) {
        r = told[0];
        for (var other = 1u; other < subgroup.count; other++) { r = combine(r, told[other]); }
    }
    return r;
}
