/// A lock, and a condition to wait for while it is held.
///
/// A limit on the waiting is measured by the monotonic clock. Foundation's `NSCondition` takes an instant of the wall clock
/// in its place: a clock that is set makes it wait longer or shorter, and one past the year 2262 ends the process.
///
/// Sendable since pthread's mutexes and conditions are for all threads. They keep their addresses as long as this lives.
@safe package final class Condition: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        Self.check(unsafe pthread_mutex_init(mutex, nil))
        Self.check(unsafe pthread_condattr_init(&attributes))
        #if !canImport(Darwin)
        Self.check(unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
        #endif
        Self.check(unsafe pthread_cond_init(condition, &attributes))
        Self.check(unsafe pthread_condattr_destroy(&attributes))
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    package func lock() { Self.check(unsafe pthread_mutex_lock(mutex)) }
    package func unlock() { Self.check(unsafe pthread_mutex_unlock(mutex)) }

    /// Wakes one thread that waits.
    package func signal() { Self.check(unsafe pthread_cond_signal(condition)) }

    /// Wakes all threads that wait.
    package func broadcast() { Self.check(unsafe pthread_cond_broadcast(condition)) }

    /// Waits until woken. The lock is held before and after.
    package func wait() { Self.check(unsafe pthread_cond_wait(condition, mutex)) }

    /// Waits until woken, or until an instant of ``now``. The lock is held before and after.
    ///
    /// - Returns: false if the instant came first.
    package func wait(until end: Duration) -> Bool {
        #if canImport(Darwin)
        // A condition can't be told its clock there. It takes how long to wait, which no clock that is set changes.
        let (rest, wait) = unsafe (max(end - Self.now, .zero).components, pthread_cond_timedwait_relative_np)
        #else
        let (rest, wait) = unsafe (end.components, pthread_cond_timedwait)
        #endif
        var time = timespec(tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
        let code = unsafe wait(condition, mutex, &time)
        if code == ETIMEDOUT { return false }
        Self.check(code)
        return true
    }

    /// By the clock that the waiting is measured by.
    package static var now: Duration {
        var time = timespec()
        check(unsafe clock_gettime(CLOCK_MONOTONIC, &time))
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private static func check(_ code: Int32) { precondition(code == 0, "a lock or a clock failed with errno \(code)") }
}
