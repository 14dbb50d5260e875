internal import Foundation
internal import Holdfast
package import HoldfastPQ

/// Asks the servers of a host's connection string one by one, on a thread of its own: an old primary that is back is found also
/// where nobody opens a session. Only where the string names several servers, and a book of them is kept.
package final class ServerWatch: Sendable {
    private let terms: HostTerms
    private let interval: Duration
    private let isUnwanted = Monitor(false)
    private let interruption: PQInterruption

    /// - Parameter interval: from one look to the next.
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(_ terms: HostTerms, interval: Duration = .seconds(30)) throws(PQError) {
        (self.terms, self.interval) = (terms, interval)
        interruption = try PQInterruption()
    }

    package func start() {
        guard let servers = terms.target.servers, terms.target.hasSeveralServers else { return }
        let thread = Thread { [self] in
            while !isUnwanted.withLock({ $0 }) {
                let found = terms.target.survey(within: terms.connecting, interruption)
                if !isUnwanted.withLock({ $0 }) { servers.surveyed(found) }
                isUnwanted.wait(interval) { $0 }
            }
        }
        thread.name = "holdfast-servers"
        thread.start()
    }

    /// Looks no more.
    package func stop() {
        isUnwanted.change { $0 = true }
        interruption.interrupt()
    }
}
