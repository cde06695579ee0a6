//! What the standard library does not offer: process groups, memory limits, private standard streams.
//!
//! On systems that are not Unix the functions do what can be done without these, and say what that is.
#![cfg_attr(unix, allow(unsafe_code, reason = "system calls through libc; each has its SAFETY comment"))]

#[cfg(unix)]
use std::fs::File;
use std::io::{self, PipeReader};
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use std::time::{Duration, Instant};

/// Makes the child the leader of its own process group, so that [`kill`] reaches what it starts.
pub(super) fn own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Limits the memory of a running process, and keeps it from dumping core, which takes seconds. Only Linux can do that from
/// outside; elsewhere nothing happens.
///
/// What counts is what the process can write to and shares with nobody. Its address space may be larger by far: CUDA and
/// WebAssembly reserve many times of what they ever use.
pub(super) fn confine(child: &Child, memory: Option<u64>) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    for (resource, bytes) in
        memory.map(|bytes| (libc::RLIMIT_DATA, bytes)).into_iter().chain([(libc::RLIMIT_CORE, 0)])
    {
        let id = child.id() as libc::pid_t;
        let mut there = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: `there` outlives the call, and a null pointer for a new limit is allowed.
        if unsafe { libc::prlimit(id, resource, std::ptr::null(), &raw mut there) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // Where this process may have less than a worker, so may that: no limit can be raised.
        let bytes = (bytes as libc::rlim_t).min(there.rlim_max);
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: `limit` outlives the call, and a null pointer for the old limit is allowed.
        if unsafe { libc::prlimit(id, resource, &raw const limit, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (child, memory);
    Ok(())
}

/// Kills the child and all of its process group. The child must not have been waited for.
pub(super) fn kill(child: &mut Child) {
    kill_group(child.id());
    // Also where there is a group: a child that left it is still ours. It may be dead, which is fine.
    let _ = child.kill();
}

/// Kills the process group of a child, by the child's id. The child must not have been waited for. On systems that are not
/// Unix there are no groups, and nothing happens.
pub(super) fn kill_group(id: u32) {
    #[cfg(unix)]
    // SAFETY: kill(2) touches no memory. The child is not reaped, so its id is still its own.
    unsafe {
        libc::kill(-(id as libc::pid_t), libc::SIGKILL);
    }
    #[cfg(not(unix))]
    let _ = id;
}

/// Whether the process has ended, without reaping it, so that its id cannot be taken by another one.
pub(super) fn has_ended(child: &mut Child) -> bool {
    #[cfg(unix)]
    {
        // SAFETY: all-zero bytes are a valid siginfo_t, and the call writes only to it.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, child.id() as libc::id_t, &raw mut info, flags) == 0
                && info.si_signo != 0
        }
    }
    #[cfg(not(unix))]
    {
        !matches!(child.try_wait(), Ok(None))
    }
}

/// Takes standard input and output for the protocol. Whatever else in this process reads standard input then
/// finds it empty, and whatever prints to standard output prints to standard error.
#[cfg(unix)]
pub(super) fn claim_stdio() -> io::Result<(File, File)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let null = File::open("/dev/null")?;
    for (from, to) in [(null.as_raw_fd(), libc::STDIN_FILENO), (libc::STDERR_FILENO, libc::STDOUT_FILENO)] {
        // SAFETY: dup2(2) touches no memory. The standard streams are open at both ends (they were cloned
        // above), and nobody holds them as owned descriptors.
        if unsafe { libc::dup2(from, to) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok((File::from(input), File::from(output)))
}

/// Takes standard input and output for the protocol. An engine that prints breaks it.
#[cfg(not(unix))]
pub(super) fn claim_stdio() -> io::Result<(io::Stdin, io::Stdout)> {
    Ok((io::stdin(), io::stdout()))
}

/// Makes dead children wait to be reaped. What started this program may have it otherwise (`trap '' CHLD`): then nobody
/// could tell how a child ended, and its id could be another's when it is killed.
pub(super) fn keep_dead_children() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: all-zero bytes are a valid sigaction, and it outlives the calls. A handler of this program stays.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let is_known = libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut action) == 0;
                if is_known && [libc::SIG_IGN, libc::SIG_DFL].contains(&action.sa_sigaction) {
                    libc::signal(libc::SIGCHLD, libc::SIG_DFL);
                }
            }
        });
    }
}

/// Makes a file that grows beyond what this process may write (`ulimit -f`) an error of the write, like a full disk,
/// and not the end of the process without a word. What it starts is not affected.
pub fn outlive_size_limit() {
    #[cfg(unix)]
    {
        extern "C" fn nothing(_: libc::c_int) {}
        let handler: extern "C" fn(libc::c_int) = nothing;
        // SAFETY: the handler does nothing, which is safe at any moment. The programs that are started do not have it.
        unsafe { libc::signal(libc::SIGXFSZ, handler as libc::sighandler_t) };
    }
}

/// How many bytes an empty pipe holds. Linux says it: a user with many pipes gets small ones. Elsewhere it is a page at least.
pub(super) fn room(pipe: &ChildStdin) -> usize {
    const PAGE: usize = 4 << 10;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // SAFETY: fcntl(2) with this command touches no memory, and the descriptor is open.
        let bytes = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_GETPIPE_SZ) };
        usize::try_from(bytes).unwrap_or(PAGE)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = pipe;
        PAGE
    }
}

/// Lets writes to a pipe fail instead of waiting for room.
pub(super) fn never_block(pipe: &ChildStdin) -> io::Result<()> {
    #[cfg(unix)]
    {
        let fd = pipe.as_raw_fd();
        // SAFETY: fcntl(2) with these commands touches no memory, and the descriptor is open.
        let is_set = unsafe {
            let flags = libc::fcntl(fd, libc::F_GETFL);
            flags >= 0 && libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) >= 0
        };
        if !is_set {
            return Err(io::Error::last_os_error());
        }
    }
    #[cfg(not(unix))]
    let _ = pipe;
    Ok(())
}

/// Waits until there is something to read or the pipe has ended; an error when that takes too long.
pub(super) fn wait_to_read(pipe: &ChildStdout, until: Option<Instant>) -> io::Result<()> {
    #[cfg(unix)]
    wait(&mut [waiting(pipe, libc::POLLIN)], until)?;
    #[cfg(not(unix))]
    let _ = (pipe, until);
    Ok(())
}

/// Waits until there is room in a pipe or nobody reads it; an error when that takes too long.
pub(super) fn wait_to_write(pipe: &ChildStdin, until: Option<Instant>) -> io::Result<()> {
    #[cfg(unix)]
    wait(&mut [waiting(pipe, libc::POLLOUT)], until)?;
    #[cfg(not(unix))]
    let _ = (pipe, until);
    Ok(())
}

/// Waits until there is something to read, or a pipe's other end is dropped; says whether it is the former.
pub(super) fn wait_unless_dropped(stream: &ChildStderr, other: &PipeReader) -> bool {
    #[cfg(unix)]
    {
        let mut both = [waiting(stream, libc::POLLIN), waiting(other, libc::POLLIN)];
        wait(&mut both, None).is_ok() && both[0].revents != 0
    }
    #[cfg(not(unix))]
    {
        let _ = (stream, other);
        true
    }
}

/// Looks whether something waits in a stream that another thread reads. (On systems that are not Unix it sees nothing.)
pub(super) struct Peek(#[cfg(unix)] OwnedFd);

impl Peek {
    /// Looks at this stream.
    pub(super) fn of(stream: &ChildStderr) -> io::Result<Self> {
        #[cfg(unix)]
        return Ok(Self(stream.as_fd().try_clone_to_owned()?));
        #[cfg(not(unix))]
        {
            let _ = stream;
            Ok(Self())
        }
    }

    /// Whether there is something to read.
    pub(super) fn is_there(&self) -> bool {
        #[cfg(unix)]
        {
            let mut stream = [waiting(&self.0, libc::POLLIN)];
            wait(&mut stream, Some(Instant::now())).is_ok() && stream[0].revents & libc::POLLIN != 0
        }
        #[cfg(not(unix))]
        false
    }
}

#[cfg(unix)]
fn waiting(pipe: &impl AsFd, events: libc::c_short) -> libc::pollfd {
    libc::pollfd { fd: pipe.as_fd().as_raw_fd(), events, revents: 0 }
}

#[cfg(unix)]
fn wait(pipes: &mut [libc::pollfd], until: Option<Instant>) -> io::Result<()> {
    loop {
        let left = until.map(|time| time.saturating_duration_since(Instant::now()));
        // A millisecond more, as the fraction is cut off; where no time is left, none.
        let milliseconds = |left: Duration| match left {
            Duration::ZERO => 0,
            left => left.as_millis().min(i32::MAX as u128 - 1) as i32 + 1,
        };
        let timeout = left.map_or(-1, milliseconds);
        // SAFETY: the pointer and the length are those of a slice that lives for the call.
        match unsafe { libc::poll(pipes.as_mut_ptr(), pipes.len() as libc::nfds_t, timeout) } {
            0 if left.is_some_and(|left| left.is_zero()) => return Err(io::ErrorKind::TimedOut.into()),
            0 => {}
            1.. => return Ok(()),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// Ends this process in a while, in case that nobody is left to kill it; `None` calls that off. Not on Windows.
pub(super) fn self_destruct(after: Option<Duration>) {
    #[cfg(unix)]
    {
        // A second more than asked for, and at least one: zero would call it off.
        let seconds = after.map_or(0, |d| d.as_secs().saturating_add(2).min(u32::MAX as u64) as u32);
        // SAFETY: alarm(2) touches no memory; the default action of SIGALRM ends the process.
        unsafe {
            libc::alarm(seconds);
        }
    }
    #[cfg(not(unix))]
    let _ = after;
}

/// The signal that ended a process.
pub(super) fn signal(status: std::process::ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// The number of the signal that [`kill`] sends.
pub(super) const SIGKILL: i32 = 9;

/// The name of a signal that engines die of.
pub(super) fn signal_name(number: i32) -> &'static str {
    #[cfg(unix)]
    {
        const NAMES: [(i32, &str); 13] = [
            (libc::SIGABRT, "SIGABRT"),
            (libc::SIGALRM, "SIGALRM"),
            (libc::SIGBUS, "SIGBUS"),
            (libc::SIGFPE, "SIGFPE"),
            (libc::SIGHUP, "SIGHUP"),
            (libc::SIGILL, "SIGILL"),
            (libc::SIGINT, "SIGINT"),
            (libc::SIGKILL, "SIGKILL"),
            (libc::SIGPIPE, "SIGPIPE"),
            (libc::SIGSEGV, "SIGSEGV"),
            (libc::SIGSYS, "SIGSYS"),
            (libc::SIGTERM, "SIGTERM"),
            (libc::SIGTRAP, "SIGTRAP"),
        ];
        if let Some((_, name)) = NAMES.iter().find(|(n, _)| *n == number) {
            return name;
        }
    }
    let _ = number;
    "another signal"
}
