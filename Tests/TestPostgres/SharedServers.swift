internal import Foundation
internal import HoldfastPlatform
internal import Synchronization

/// Servers that the tests of this process share. They are made when first wanted.
package enum Servers {
    package static let plain: Result<Cluster, any Error> = Result { try Cluster() }
}

extension Cluster {
    /// A connection string over TCP, without encryption.
    package func tcp(_ more: String = "user=plain", port: Int? = nil) -> String {
        "host=127.0.0.1 port=\(port ?? self.port) dbname=postgres sslmode=disable \(more)"
    }

    /// A connection string over TCP for two servers, of which this one is tried first.
    package func tcp(or other: Cluster) -> String {
        "host=127.0.0.1,127.0.0.1 port=\(port),\(other.port) dbname=postgres sslmode=disable user=plain"
    }

    /// A connection string over the socket, as a superuser.
    package var socket: String { "host=\(folder) port=\(port) dbname=postgres user=postgres" }
}

package func soon(_ seconds: Double = 20) -> ContinuousClock.Instant { .now + .seconds(seconds) }

/// Something that runs on a thread of its own, and what came of it.
package final class Background<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    package init(_ body: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            let result = Result { try body() }
            outcome.withLock { $0 = result }
            done.signal()
        }
    }

    package func value() throws -> Value {
        guard done.wait(timeout: .now() + .seconds(30)) == .success, let outcome = outcome.withLock({ $0 }) else {
            throw NeverEnded()
        }
        return try outcome.get()
    }

    struct NeverEnded: Error {}
}

/// Waits for a condition, looking every few milliseconds.
package func eventually(_ condition: () throws -> Bool) throws -> Bool {
    let end = soon(20)
    while try !condition() {
        if .now > end { return false }
        usleep(5000)
    }
    return true
}
