//! The tasks of a worker, which does not end before all of them have.
//!
//! Each has a slot with its deadline and its waker. In every turn of its loop the worker wakes the tasks whose timers are
//! due; every few milliseconds it also wakes those whose deadline has passed. One kernel timer brings about the next
//! turn if nothing else does. At the end of the run all tasks are woken, and each records how far it had come.

#![expect(unsafe_code, reason = "a descriptor that stays the same one")]

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::yield_now;

use crate::machine::busy_polling::BusyPolling;
use crate::machine::clock::Clock;
use crate::machine::prefetch::prefetch;
use crate::machine::timer::Timer;
use crate::machine::timer_queue::TimerQueue;
use crate::machine::wall_clock::WallClock;

/// The tasks of one worker, and what wakes them.
pub struct Tasks {
    pub clock: Clock,
    wall_clock: WallClock,
    /// When this turn of the worker's loop began.
    turn: Cell<u64>,
    timers: RefCell<TimerQueue>,
    alarm: AsyncFd<Timer>,
    /// The time to which the alarm is set.
    armed_for: Cell<u64>,
    /// The slot whose task was prefetched last.
    prefetched: Cell<u32>,
    busy_polling: BusyPolling,
    table: RefCell<Table>,
    /// The end of the run, as last seen by the worker's loop.
    end: Cell<u64>,
    stopping: Cell<bool>,
    /// Whether a task has panicked.
    panicked: Cell<bool>,
    /// The waker of the worker's own loop, which has no slot.
    main: RefCell<Option<Waker>>,
}

/// The data of all tasks, by slot.
#[derive(Default)]
struct Table {
    /// `NEVER` if there is none; `PASSED` if it has passed and the task was woken.
    deadlines: Vec<u64>,
    /// The moments of [`Task::wake_at`]. A slot keeps its own when another task takes it, as its timer stays in the queue.
    wake_times: Vec<u64>,
    wakers: Vec<Option<Waker>>,
    free: Vec<u32>,
}

/// The size of the task of a closed loop's client, including what the runtime adds.
const TASK_BYTES: usize = 640;

/// How long a client pauses after a request that failed before anything was sent.
const REST_NS: u64 = 1_000_000;

const NEVER: u64 = u64::MAX;
const PASSED: u64 = 0;

impl Tasks {
    /// Must be called within the runtime.
    pub fn new(clock: Clock, busy_polling: BusyPolling) -> io::Result<Rc<Self>> {
        // SAFETY: a `Timer` owns its descriptor, always gives the same one, and lives as long as the `AsyncFd`.
        let alarm = unsafe { AsyncFd::register_with_interest(Timer::new()?, Interest::READABLE) };
        Ok(Rc::new(Self {
            clock,
            wall_clock: WallClock::new(clock),
            turn: Cell::new(0),
            timers: RefCell::default(),
            alarm: alarm?,
            armed_for: Cell::new(u64::MAX),
            prefetched: Cell::new(u32::MAX),
            busy_polling,
            table: RefCell::default(),
            end: Cell::new(u64::MAX),
            stopping: Cell::new(false),
            panicked: Cell::new(false),
            main: RefCell::default(),
        }))
    }

    /// Stores the waker of the current task as that of the worker's own loop; returns it.
    pub async fn register_main(&self) -> Waker {
        let main = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        *self.main.borrow_mut() = Some(main.clone());
        main
    }

    /// Begins a turn of the worker's own loop: wakes the tasks whose timers are due. Returns the time.
    pub fn begin_turn(&self) -> u64 {
        assert!(!self.panicked.get(), "a task of this worker has panicked");
        let now = self.clock.now();
        self.turn.set(now);
        self.busy_polling.begin_turn(now);
        let mut timers = self.timers.borrow_mut();
        while let Some(slot) = timers.pop_due(now) {
            self.wake(slot);
        }
        now
    }

    /// Ends the turn. The next one comes at `due` or when the next timer is due, and at `latest` in any case.
    pub fn end_turn(&self, cx: &mut Context<'_>, due: u64, latest: u64) {
        let next = self.timers.borrow().next();
        let due = next.map_or(due, |(next, _)| next.min(due));
        if let Some((_, slot)) = next {
            self.prefetch_task(slot);
        }
        let Some(due) = self.busy_polling.sleep_until(self.turn.get(), due) else {
            cx.waker().wake_by_ref();
            return;
        };
        let due = due.min(latest);
        if due == self.armed_for.get() {
            return;
        }
        while let Poll::Ready(Ok(mut gone_off)) = self.alarm.poll_read_ready(cx) {
            gone_off.clear_ready();
        }
        self.arm(due);
    }

    /// Prefetches the task that is woken next while the worker waits: one task among 10,000 is in none of the caches.
    fn prefetch_task(&self, slot: u32) {
        if self.prefetched.replace(slot) == slot {
            return;
        }
        if let Some(Some(waker)) = self.table.borrow().wakers.get(slot as usize) {
            prefetch(waker.data().cast(), TASK_BYTES);
        }
    }

    fn arm(&self, due: u64) {
        self.armed_for.set(due);
        self.alarm.get_ref().set(self.clock.monotonic(due));
    }

    /// Brings about another turn of the worker's own loop.
    pub fn wake_main(&self) {
        self.main
            .borrow()
            .as_ref()
            .inspect(|main| main.wake_by_ref());
    }

    pub fn wake_overdue(&self, now: u64) {
        let Table {
            deadlines, wakers, ..
        } = &mut *self.table.borrow_mut();
        for (deadline, waker) in deadlines.iter_mut().zip(wakers) {
            if *deadline <= now && *deadline != PASSED {
                *deadline = PASSED;
                waker.as_ref().inspect(|waker| waker.wake_by_ref());
            }
        }
    }

    /// How long before its due time a request may be prepared, in ns.
    pub fn lead_ns(&self) -> u64 {
        self.busy_polling.lead_ns()
    }

    pub fn set_end(&self, end: u64) {
        self.end.set(end);
    }

    /// Whether the run still continues at `now`, so that another request may be begun.
    pub fn running(&self, now: u64) -> bool {
        !self.stopping() && now < self.end.get()
    }

    /// Whether the run has ended, so that nothing more may be sent.
    pub fn stopping(&self) -> bool {
        self.stopping.get()
    }

    /// Wakes all tasks, and waits until each has recorded what it had in hand and left its slot.
    pub async fn stop(&self) {
        self.stopping.set(true);
        for waker in self.table.borrow().wakers.iter().flatten() {
            waker.wake_by_ref();
        }
        while self.table.borrow().taken() > 0 {
            yield_now().await;
        }
    }

    /// Wakes a task. A needless wake-up does no harm, as every wait checks its own condition.
    pub fn wake(&self, slot: u32) {
        self.busy_polling.note_work();
        if let Some(Some(waker)) = self.table.borrow().wakers.get(slot as usize) {
            waker.wake_by_ref();
        }
    }

    fn set_timer(&self, due: u64, slot: u32) {
        self.timers.borrow_mut().push(due, slot);
        if self.busy_polling.is_on() {
            // The next turn decides how it is waited for.
            self.wake_main();
        } else if due < self.armed_for.get() {
            self.arm(due);
        }
    }
}

impl Table {
    fn taken(&self) -> usize {
        self.deadlines.len() - self.free.len()
    }

    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.deadlines.push(NEVER);
            self.wake_times.push(PASSED);
            self.wakers.push(None);
            (self.deadlines.len() - 1) as u32
        })
    }

    fn leave(&mut self, slot: u32) {
        self.deadlines[slot as usize] = NEVER;
        self.wakers[slot as usize] = None;
        self.free.push(slot);
    }
}

/// Why a wait ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    Deadline,
    Stop,
}

/// A task's slot, free again when it is dropped.
pub struct Task {
    tasks: Rc<Tasks>,
    slot: u32,
}

impl Task {
    /// Takes a slot for a task that is about to be spawned.
    pub fn take(tasks: &Rc<Tasks>) -> Self {
        let slot = tasks.table.borrow_mut().take();
        Self {
            tasks: tasks.clone(),
            slot,
        }
    }

    /// Takes a slot for another task of the same worker.
    pub fn take_another(&self) -> Self {
        Self::take(&self.tasks)
    }

    /// Stores the waker of the current task in its slot.
    pub async fn register(&self) {
        poll_fn(|cx| {
            self.tasks.table.borrow_mut().wakers[self.slot as usize] = Some(cx.waker().clone());
            Poll::Ready(())
        })
        .await;
    }

    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// Returns the time. Counts as work: only a task that does something asks for it.
    pub fn now(&self) -> u64 {
        self.tasks.busy_polling.note_work();
        self.tasks.clock.now()
    }

    /// Converts the wall-clock time `unix_ns`, which lies between `earliest` and now, to the clock of the run.
    ///
    /// `None` if that cannot be done reliably.
    pub fn to_run_clock(&self, unix_ns: u64, earliest: u64) -> Option<u64> {
        self.tasks.busy_polling.note_work();
        self.tasks.wall_clock.to_run_clock(unix_ns, earliest)
    }

    /// Busy-waits for a moment that is near; returns the time.
    pub fn wait_until(&self, at: u64) -> u64 {
        self.tasks.busy_polling.note_work();
        self.tasks.busy_polling.wait_until(self.tasks.clock, at)
    }

    /// Notes that something is sent at `now` and a response is awaited.
    pub fn expect_response(&self, now: u64) {
        self.tasks.busy_polling.expect_response(now);
        if self.tasks.busy_polling.is_on() {
            // This turn may have decided to sleep before the task ran that sends something.
            self.tasks.wake_main();
        }
    }

    pub fn running(&self, now: u64) -> bool {
        self.tasks.running(now)
    }

    pub fn stopping(&self) -> bool {
        self.tasks.stopping()
    }

    pub fn set_deadline(&self, at: u64) {
        self.tasks.table.borrow_mut().deadlines[self.slot as usize] = at;
    }

    /// Wakes the task at `at`, too. It may be woken earlier, for an earlier call: then it calls this again.
    ///
    /// So a task has one such timer, however often it comes to wait for something else.
    pub fn wake_at(&self, at: u64) {
        let mut table = self.tasks.table.borrow_mut();
        let wake_time = &mut table.wake_times[self.slot as usize];
        if *wake_time <= self.tasks.turn.get() || at < *wake_time {
            *wake_time = at;
            drop(table);
            self.tasks.set_timer(at, self.slot);
        }
    }

    pub fn clear_deadline(&self) {
        self.set_deadline(NEVER);
    }

    /// Ready when the run has stopped or the deadline has passed; the task is woken for both.
    pub fn poll_interrupt(&self) -> Poll<Interrupt> {
        if self.stopping() {
            Poll::Ready(Interrupt::Stop)
        } else if self.tasks.table.borrow().deadlines[self.slot as usize] == PASSED {
            Poll::Ready(Interrupt::Deadline)
        } else {
            Poll::Pending
        }
    }

    pub fn or_interrupt<F: Future>(
        &self,
        mut future: Pin<&mut F>,
    ) -> impl Future<Output = Result<F::Output, Interrupt>> {
        poll_fn(move |cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll_interrupt().map(Err),
        })
    }

    /// Pauses a client whose request failed before anything was sent, so that it does not starve others by repeating it.
    pub async fn rest(&self) {
        let due = self.now() + REST_NS;
        self.sleep_until(due, || true, |_| {}).await;
    }

    /// Waits until `due`; returns the time of the turn in which the task ran again.
    ///
    /// `None` if the run has stopped, or the task is no longer `wanted` (whoever changes that must wake it).
    /// `meanwhile` may register the task to be woken for something else.
    pub fn sleep_until(
        &self,
        due: u64,
        wanted: impl Fn() -> bool,
        mut meanwhile: impl FnMut(&mut Context<'_>),
    ) -> impl Future<Output = Option<u64>> {
        let mut set = false;
        poll_fn(move |cx| {
            let now = self.tasks.turn.get();
            if self.stopping() || !wanted() {
                return Poll::Ready(None);
            }
            if now >= due {
                return Poll::Ready(Some(now));
            }
            if !set {
                set = true;
                self.tasks.set_timer(due, self.slot);
            }
            meanwhile(cx);
            Poll::Pending
        })
    }

    /// Waits until the worker has noticed that the run has ended.
    pub async fn until_stop(&self) {
        self.wait_for(|| None::<()>, |_| ()).await;
    }

    /// Waits until `ready` returns something; `None` if the run has stopped.
    ///
    /// Whoever makes it ready must wake the task. `meanwhile` may register it to be woken for something else.
    pub fn wait_for<T>(
        &self,
        mut ready: impl FnMut() -> Option<T>,
        mut meanwhile: impl FnMut(&mut Context<'_>),
    ) -> impl Future<Output = Option<T>> {
        poll_fn(move |cx| match ready() {
            Some(value) => Poll::Ready(Some(value)),
            None if self.stopping() => Poll::Ready(None),
            None => {
                meanwhile(cx);
                Poll::Pending
            }
        })
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // The runtime catches the panic of a task, so nobody else would notice it.
        if thread::panicking() {
            self.tasks.panicked.set(true);
            self.tasks.wake_main();
        }
        self.tasks.table.borrow_mut().leave(self.slot);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    use super::*;
    use crate::machine::clock::monotonic_ns;

    struct Counting(AtomicU32);

    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn who_waits_for_one_thing_after_another_has_one_timer() {
        let busy_polling = BusyPolling::new(false, Rc::default());
        let tasks = Tasks::new(Clock::starting_at(monotonic_ns()), busy_polling).unwrap();
        let due_at = |now| {
            tasks.turn.set(now);
            let mut timers = tasks.timers.borrow_mut();
            std::iter::from_fn(|| timers.pop_due(now)).count()
        };
        for at in 100..200 {
            Task::take(&tasks).wake_at(at);
        }
        assert_eq!((due_at(99), due_at(100), due_at(1000)), (0, 1, 0));
        let task = Task::take(&tasks);
        task.wake_at(3000);
        task.wake_at(2000);
        assert_eq!(
            (due_at(2000), due_at(3000)),
            (1, 1),
            "an earlier one is set at once"
        );
        task.wake_at(4000);
        assert_eq!(due_at(4000), 1, "what has passed is set again");
    }

    #[tokio::test]
    async fn a_worker_that_would_sleep_looks_again_when_something_is_sent() {
        for (busy_poll, expected) in [(true, 1), (false, 0)] {
            let busy_polling = BusyPolling::new(busy_poll, Rc::default());
            let tasks = Tasks::new(Clock::starting_at(monotonic_ns()), busy_polling).unwrap();
            let turns = Arc::new(Counting(AtomicU32::new(0)));
            *tasks.main.borrow_mut() = Some(turns.clone().into());
            Task::take(&tasks).expect_response(5);
            assert_eq!(turns.0.load(Ordering::Relaxed), expected, "{busy_poll}");
        }
    }
}
