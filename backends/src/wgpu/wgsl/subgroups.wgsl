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
    for (var apart = 1u; apart < min(subgroup.size, 64u); apart <<= 1u) {
        r = combine(r, subgroupShuffleXor(r, apart));
    }
    if (subgroup.invocation == 0u) { told[subgroup.number] = r; }
    workgroupBarrier();
    if (local == 0u) {
        r = told[0];
        for (var other = 1u; other < subgroup.count; other++) { r = combine(r, told[other]); }
    }
    return r;
}
