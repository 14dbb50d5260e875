internal import Foundation
package import Holdfast

/// A journal that hosts take from each other, for ``SharedJournalConformance``.
package protocol SharedJournal: Sendable {
    /// Has a host take the journal, as one does that finds its owner gone; the first one makes it. The former owner is not
    /// told, and goes on.
    func take(by host: Int) throws -> any Journal

    /// Ends what a host has opened, as a process does that was told that it has lost the journal.
    func leave(by host: Int) throws

    /// Has no answer of the store reach a host from now on.
    ///
    /// - Parameter arrives: whether the commits of the host reach the store.
    func cut(_ host: Int, arrives: Bool)

    /// The host reaches the store again.
    func mend(_ host: Int)

    /// The clock of ``Holdfast/JournalService/handOutUntil``.
    func now() -> Duration
}

/// The rules of a journal that several hosts may own, one after the other: those of takeovers.
package struct SharedJournalConformance: Sendable {
    /// One rule, with its check.
    package struct Rule: Hashable, Sendable, CustomStringConvertible {
        /// The rule, as a sentence.
        package let name: String
        let body: @Sendable (SharedBench) throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (SharedBench) throws -> Void) {
            self.name = name
            self.body = body
        }

        package var description: String { name }
        package static func == (lhs: Rule, rhs: Rule) -> Bool { lhs.name == rhs.name }
        package func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// All rules, for a test framework to take as arguments.
    package static let rules: [Rule] = finding + fencing + doubts

    private let make: @Sendable () throws -> any SharedJournal
    private let patience: Duration

    /// - Parameters:
    ///   - make: gives a journal of its own each time, which nobody has taken yet.
    ///   - patience: how long a completion may take before it counts as never called.
    package init(make: @escaping @Sendable () throws -> any SharedJournal, patience: Duration = .seconds(30)) {
        self.make = make
        self.patience = patience
    }

    /// Checks one rule, on a thread of its own.
    package func check(_ rule: Rule) async throws(ConformanceFailure) {
        let result: Result<Void, ConformanceFailure> = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do {
                    let bench = SharedBench(try make(), patience: patience)
                    try rule.body(bench)
                    try bench.finish()
                    continuation.resume(returning: .success(()))
                } catch {
                    continuation.resume(returning: .failure(Deviation.failure(error, of: rule.name)))
                }
            }
        }
        try result.get()
    }
}

/// Where a rule of takeovers is checked: a journal, and the hosts that have it or had it.
final class SharedBench {
    let store: any SharedJournal
    private let patience: Duration
    private var benches: [(host: Int, bench: JournalBench)] = []

    private struct NotReopened: Error {}

    init(_ store: any SharedJournal, patience: Duration) {
        self.store = store
        self.patience = patience
    }

    /// Has a host take the journal.
    func take(by host: Int) throws -> JournalBench {
        let bench = try JournalBench(
            store.take(by: host), reopen: { _ in throw NotReopened() }, patience: patience)
        benches.append((host, bench))
        return bench
    }

    /// Ends what the host has opened.
    func leave(by host: Int) throws {
        for (_, bench) in benches.filter({ $0.host == host }) { try bench.finish() }
        benches.removeAll { $0.host == host }
        try store.leave(by: host)
    }

    /// All completions were called, once.
    func finish() throws { for host in Set(benches.map(\.host)).sorted() { try leave(by: host) } }

    /// Expects that the owner of before is refused what would change the journal.
    func expectLoss(of bench: JournalBench, _ what: String, _ body: () throws -> Void) throws {
        try bench.expectError(.ownershipLost, what, body)
    }
}

/// The result of a call that is waited for later.
final class Pending<Value: Sendable>: Sendable {
    private let answer = Monitor<Result<Value, JournalError>?>(nil)
    private let patience: Duration

    init(_ bench: JournalBench, _ start: (@escaping @Sendable (Result<Value, JournalError>) -> Void) -> Void) {
        patience = bench.patience
        start(
            bench.completion { [answer] result in
                answer.withLock { $0 = result }
                answer.broadcast()
            })
    }

    /// - Throws: a deviation where the call is never answered.
    func result(of what: String) throws -> Result<Value, JournalError> {
        guard let result = answer.wait(atMost: patience, for: { $0 }) else {
            throw Deviation("the completion of \(what)", expected: "a call within \(patience)", found: "none")
        }
        return result
    }
}
