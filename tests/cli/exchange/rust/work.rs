use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

trait Shape {
    fn area(&self, n: u64) -> u64;
}

struct Square(u64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, n: u64) -> u64 {
        (0..n).fold(self.0, |sum, i| std::hint::black_box(sum.rotate_left(3) ^ i))
    }
}

#[inline(never)]
fn measure<T: Shape>(shape: &T, n: u64) -> u64 {
    std::hint::black_box(shape.area(n)) + 1
}

#[inline(never)]
async fn leaf(n: u64) -> u64 {
    (0..n).fold(1, |sum: u64, i| std::hint::black_box(sum.rotate_left(5) ^ i))
}

async fn middle(n: u64) -> u64 {
    leaf(n).await + 1
}

struct Nothing;

impl Wake for Nothing {
    fn wake(self: Arc<Self>) {}
}

fn main() {
    let waker = Waker::from(Arc::new(Nothing));
    let mut context = Context::from_waker(&waker);
    let mut sum = measure(&Square(3), 60_000_000);
    let mut future = middle(60_000_000);
    // It is not moved any more.
    let future = unsafe { Pin::new_unchecked(&mut future) };
    if let Poll::Ready(value) = future.poll(&mut context) {
        sum ^= value;
    }
    println!("{}", sum > 0);
}
