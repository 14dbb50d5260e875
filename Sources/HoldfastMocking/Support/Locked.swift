import Foundation

/// A value behind a lock. (A pthread mutex through Foundation: what ThreadSanitizer understands.)
package final class Locked<Value: Sendable>: @unchecked Sendable {  // `value` is touched only while `lock` is held
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    /// Runs `body` alone. It must not block and must not call out.
    package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
