//! How much memory a test's thread holds, and the tests of all invariants. Both are macros: an
//! allocator belongs to a program, and this crate has no unsafe code.

/// Makes a module `heap` whose function `live_bytes` returns how many bytes the calling thread has
/// allocated and not freed. Its allocator becomes the program's.
#[macro_export]
macro_rules! count_heap {
    () => {
        mod heap {
            use std::alloc::{GlobalAlloc, Layout, System};
            use std::cell::Cell;

            thread_local! {
                static LIVE: Cell<isize> = const { Cell::new(0) };
            }

            struct Counting;

            fn add(bytes: isize) {
                // A thread that ends may free after its counter is gone.
                let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
            }

            // SAFETY: all work is the system allocator's; counting allocates nothing.
            unsafe impl GlobalAlloc for Counting {
                unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
                    add(layout.size() as isize);
                    // SAFETY: as promised to this function.
                    unsafe { System.alloc(layout) }
                }
                unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
                    add(-(layout.size() as isize));
                    // SAFETY: as promised to this function.
                    unsafe { System.dealloc(pointer, layout) }
                }
            }

            #[global_allocator]
            static COUNTING: Counting = Counting;

            /// Bytes allocated by this thread and not freed.
            pub fn live_bytes() -> isize {
                LIVE.with(Cell::get)
            }
        }
    };
}

/// Makes tests of what every scheme promises, in a file of its own below `tests`:
/// [`check_invariants`](crate::testing::check_invariants) with 100 histories,
/// [`check_growth`](crate::testing::check_growth) and
/// [`check_presets`](crate::testing::check_presets).
///
/// ```text
/// schemes::invariants! { mine::Mine }
/// ```
#[macro_export]
macro_rules! invariants {
    ($($scheme:ty),+ $(,)?) => {
        $crate::count_heap!();

        #[test]
        fn promises_are_kept_whatever_happens_to_a_qp() {
            $($crate::testing::check_invariants::<$scheme>(100);)+
        }

        #[test]
        fn ten_thousand_messages_leave_nothing_behind() {
            $($crate::testing::check_growth::<$scheme>(heap::live_bytes);)+
        }

        #[test]
        fn presets_are_complete_and_within_their_ranges() {
            $($crate::testing::check_presets(
                &$crate::registry::SchemeInfo::of::<$scheme>(),
            );)+
        }
    };
}
