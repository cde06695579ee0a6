//! What this process and its children have used, and what it keeps.

/// Processor time in seconds; 0 if the system does not say.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CpuTime {
    /// Of this process.
    pub own: f64,
    /// Of its children that have ended and been waited for: the workers, in which engines run.
    pub children: f64,
}

impl CpuTime {
    /// What was used up to now.
    pub fn now() -> Self {
        #[cfg(unix)]
        return Self { own: seconds(libc::RUSAGE_SELF), children: seconds(libc::RUSAGE_CHILDREN) };
        #[cfg(not(unix))]
        Self::default()
    }

    /// What was used since an earlier time.
    pub fn since(self) -> Self {
        let now = Self::now();
        Self { own: now.own - self.own, children: now.children - self.children }
    }

    /// Of this process and its children.
    pub fn total(self) -> f64 {
        self.own + self.children
    }
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "getrusage has no safe interface in the standard library")]
fn seconds(who: libc::c_int) -> f64 {
    // SAFETY: `rusage` is plain old data, for which all zeros are valid, and `getrusage` writes to it alone.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    };
    let part = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    part(usage.ru_utime) + part(usage.ru_stime)
}

/// From now on this process keeps the memory that it has freed, in one place for all of its threads. A large model asks
/// for gigabytes over and over, and to have the system clear them each time takes as long as the rest. Nothing changes
/// where the allocator is not glibc's.
pub fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code, reason = "mallopt has no safe interface")]
    for (option, value) in [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_MAX, 0), (libc::M_TRIM_THRESHOLD, -1)] {
        // SAFETY: it takes two numbers, and does nothing where it does not know them.
        let _ = unsafe { libc::mallopt(option, value) };
    }
}
