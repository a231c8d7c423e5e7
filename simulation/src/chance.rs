//! All chance and the wall clock of this process, from a seed.
//!
//! Ids, jitter, deals, the order of hash maps and the branches that a `select!` tries first: all of them draw from the
//! operating system, some through libraries of others. So the two functions of the C library are replaced that give it,
//! and a schedule is the same each time. For a process of one thread that runs one schedule.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the wall clock shows when a schedule begins, in seconds since 1970.
const EPOCH_SECONDS: i64 = 1_780_000_000;

static STATE: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The beginning of the schedule that this thread runs.
    static BEGAN: Cell<Option<tokio::time::Instant>> = const { Cell::new(None) };
}

/// From now on chance is this seed's.
pub(crate) fn seed(seed: u64) {
    STATE.store(seed, Ordering::Relaxed);
}

/// From now on the wall clock follows the clock of the runtime, which may be paused.
pub(crate) fn begin() {
    BEGAN.set(Some(tokio::time::Instant::now()));
}

/// `SplitMix64`.
fn next() -> u64 {
    let state = STATE.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
    let mut mixed = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[expect(
    unsafe_code,
    reason = "replaces a function of the C library, see the module"
)]
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, _flags: u32) -> isize {
    if length > 0 {
        // SAFETY: whoever calls the C library's `getrandom` gives so many bytes to be written.
        let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length) };
        for some in bytes.chunks_mut(8) {
            some.copy_from_slice(&next().to_le_bytes()[..some.len()]);
        }
    }
    isize::try_from(length).unwrap_or(isize::MAX)
}

#[expect(
    unsafe_code,
    reason = "replaces a function of the C library, see the module"
)]
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    let began = if clock == libc::CLOCK_REALTIME {
        BEGAN.get()
    } else {
        None
    };
    if let Some(began) = began {
        let passed = began.elapsed();
        // SAFETY: whoever calls the C library's `clock_gettime` gives a place for the time.
        unsafe {
            (*time).tv_sec = EPOCH_SECONDS + i64::try_from(passed.as_secs()).unwrap_or_default();
            (*time).tv_nsec = passed.subsec_nanos().into();
        }
        return 0;
    }
    // SAFETY: the same arguments as the caller's.
    let done = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    libc::c_int::try_from(done).unwrap_or(-1)
}
