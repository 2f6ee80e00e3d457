//! The memory of a component.
//!
//! Each hook begins with the memory that the component was linked with. Asking for more costs two changes of the
//! process's memory map: one now, and one before the next hook, which must not find it. In small hooks that is a quarter
//! of all they cost. So there is room for them from the beginning, and what is more is asked for in large steps; pages
//! that are never touched cost nothing.

use core::alloc::Layout;
use core::arch::wasm32::memory_grow;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::cell::TalcSyncCell;
use talc::source::Source;
use talc::wasm::WasmBinning;

/// A page of WebAssembly, in bytes.
const PAGE: usize = 64 << 10;

/// What there is from the beginning, in bytes. Ten monitors that look at ten tool results need about half of it.
const ROOM: usize = 256 << 10;

/// The fewest pages that are asked for at a time.
const STEP: usize = (1 << 20) / PAGE;

/// What the allocator keeps for itself of each piece that it is given, at the most.
const OVERHEAD: usize = 256;

#[global_allocator]
static ALLOCATOR: TalcSyncCell<Pages, WasmBinning> = TalcSyncCell::new_wasm(Pages::Unused);

/// Where the allocator gets memory from.
#[derive(Debug)]
enum Pages {
    /// Nothing was allocated yet.
    Unused,
    /// The room from the beginning is in use.
    Room,
    /// Memory was asked for, and ends here.
    Grown(NonNull<u8>),
}

#[allow(unsafe_code, reason = "an allocator is told which memory is its own")]
// SAFETY: nothing here allocates.
unsafe impl Source for Pages {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        if let Pages::Unused = talc.source {
            static mut FIRST: [MaybeUninit<u8>; ROOM] = [MaybeUninit::uninit(); ROOM];
            talc.source = Pages::Room;
            // SAFETY: nothing else names `FIRST`, and this arm is taken once.
            return unsafe { talc.claim((&raw mut FIRST).cast(), ROOM) }.map(drop).ok_or(());
        }
        let wanted = layout.size().saturating_add(layout.align()).saturating_add(OVERHEAD);
        let pages = wanted.div_ceil(PAGE).max(STEP);
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return Err(());
        }
        let base = (before * PAGE) as *mut u8;
        let size = pages * PAGE;
        let end = match talc.source {
            // SAFETY: the memory is new, and begins where the allocator's own ends.
            Pages::Grown(end) if end.as_ptr() == base => unsafe { talc.extend(end, base.wrapping_add(size)) },
            // SAFETY: the memory is new.
            _ => unsafe { talc.claim(base, size) }.ok_or(())?,
        };
        talc.source = Pages::Grown(end);
        Ok(())
    }
}
