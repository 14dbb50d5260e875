import Glibc

/// A lock, and a condition to wait for while it is held.
///
/// A limit on the waiting is measured by the monotonic clock. Foundation's `NSCondition` takes an instant of the wall clock
/// in its place: a clock that is set makes it wait longer or shorter, and one past the year 2262 ends the process.
///
/// Sendable since pthread's mutexes and conditions are for all threads. They keep their addresses as long as this lives.
@safe final class Condition: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        Self.check(unsafe pthread_mutex_init(mutex, nil))
        Self.check(unsafe pthread_condattr_init(&attributes))
        Self.check(unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
        Self.check(unsafe pthread_cond_init(condition, &attributes))
        Self.check(unsafe pthread_condattr_destroy(&attributes))
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func lock() { Self.check(unsafe pthread_mutex_lock(mutex)) }
    func unlock() { Self.check(unsafe pthread_mutex_unlock(mutex)) }

    /// Wakes one thread that waits.
    func signal() { Self.check(unsafe pthread_cond_signal(condition)) }

    /// Wakes all threads that wait.
    func broadcast() { Self.check(unsafe pthread_cond_broadcast(condition)) }

    /// Waits until woken. The lock is held before and after.
    func wait() { Self.check(unsafe pthread_cond_wait(condition, mutex)) }

    /// Waits until woken, or until an instant of ``now``. The lock is held before and after.
    ///
    /// - Returns: false if the instant came first.
    func wait(until end: Duration) -> Bool {
        var time = timespec(
            tv_sec: Int(end.components.seconds), tv_nsec: Int(end.components.attoseconds / 1_000_000_000))
        let code = unsafe pthread_cond_timedwait(condition, mutex, &time)
        if code == ETIMEDOUT { return false }
        Self.check(code)
        return true
    }

    /// By the clock that the waiting is measured by.
    static var now: Duration {
        var time = timespec()
        check(unsafe clock_gettime(CLOCK_MONOTONIC, &time))
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private static func check(_ code: Int32) { precondition(code == 0, "a lock or a clock failed with errno \(code)") }
}
