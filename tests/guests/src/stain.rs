//! Looks past the allocator at all of the memory, for what an earlier hook may have left there.

#![allow(unsafe_code, reason = "reads and writes memory that is not its own: that is what it is for")]

use std::arch::wasm32::{memory_grow, memory_size};
use std::sync::atomic::{AtomicU64, Ordering};

const STAIN: u64 = 0xC0FF_EE00_57A1_4ED5;
const PAGE: usize = 64 << 10;
const CELL: usize = size_of::<u64>();

/// Part of the image that every instance begins with.
static IMAGE: [AtomicU64; 2048] = [const { AtomicU64::new(7) }; 2048];

/// Stains the image, the stack that is not in use, and that many new pages. Returns how many bytes are stained then.
pub fn smear(pages: usize) -> usize {
    IMAGE.iter().for_each(|cell| cell.store(STAIN, Ordering::Relaxed));
    let top_of_stack = (&raw const pages as usize).next_multiple_of(CELL);
    let unused_stack = (CELL..top_of_stack - 4096).step_by(CELL);
    let new = memory_grow::<0>(pages) * PAGE;
    for address in unused_stack.chain((new..new + pages * PAGE).step_by(CELL)) {
        // SAFETY: the addresses are inside the memory, and nobody uses what is there.
        unsafe { (address as *mut u64).write_volatile(STAIN) };
    }
    sniff(0)
}

/// How many bytes are stained of all memory, with that many new pages.
pub fn sniff(pages: usize) -> usize {
    memory_grow::<0>(pages);
    let cells = (CELL..memory_size::<0>() * PAGE).step_by(CELL);
    // SAFETY: the addresses are inside the memory.
    cells.filter(|address| unsafe { (*address as *const u64).read_volatile() } == STAIN).count() * CELL
}
