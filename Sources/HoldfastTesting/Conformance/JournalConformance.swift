internal import Foundation
public import Holdfast

/// The rules that every ``Holdfast/Journal`` keeps, to be checked with your options and on your file system. Needs no test
/// framework.
///
///     let conformance = JournalConformance(
///         make: { try LMDBJournal(directory: freshPath()) },
///         reopen: { journal in
///             guard let journal = journal as? LMDBJournal else { throw NotOurs() }
///             journal.close()
///             return try LMDBJournal(directory: journal.directory)
///         })
///
///     @Test(arguments: JournalConformance.rules) func keeps(rule: JournalConformance.Rule) async throws {
///         try await conformance.check(rule)
///     }
///
/// A rule is checked on a journal of its own, which is expected to number its entries 1, 2, 3 … Each takes a few commits, two
/// or three of them about a thousand.
public struct JournalConformance: Sendable {
    /// One rule, with its check.
    public struct Rule: Hashable, Sendable, CustomStringConvertible {
        /// The rule, as a sentence.
        public let name: String
        let body: @Sendable (JournalBench) throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (JournalBench) throws -> Void) {
            self.name = name
            self.body = body
        }

        /// The rule's name.
        public var description: String { name }
        /// Compares names, which are unique.
        public static func == (lhs: Rule, rhs: Rule) -> Bool { lhs.name == rhs.name }
        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// All rules, for a test framework to take as arguments.
    public static let rules: [Rule] =
        lanes + appends + reads + settlements + deferrals + moves + schedules + tags + newest + marks + producers
        + identities
        + outcomes
        + trims
        + quieted + operators + quarantine + blacklist + services + closing

    let make: @Sendable () throws -> any Journal
    let reopen: @Sendable (any Journal) throws -> any Journal
    let patience: Duration

    /// - Parameters:
    ///   - make: gives an empty journal of its own each time, which commits without being told to.
    ///   - reopen: closes a journal and opens what it has left.
    ///   - patience: how long a completion may take before it counts as never called. Default: 30 s.
    public init(
        make: @escaping @Sendable () throws -> any Journal,
        reopen: @escaping @Sendable (any Journal) throws -> any Journal, patience: Duration = .seconds(30)
    ) {
        self.make = make
        self.reopen = reopen
        self.patience = patience
    }

    /// Checks one rule, on a thread of its own: it waits for a disk, and must not hold up what runs beside it.
    ///
    /// - Throws: ``ConformanceFailure``.
    public func check(_ rule: Rule) async throws(ConformanceFailure) {
        let result: Result<Void, ConformanceFailure> = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do throws(ConformanceFailure) {
                    try checkHere(rule)
                    continuation.resume(returning: .success(()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        try result.get()
    }

    private func checkHere(_ rule: Rule) throws(ConformanceFailure) {
        do {
            let bench = try JournalBench(make(), reopen: reopen, patience: patience)
            defer { bench.journal.close() }
            try rule.body(bench)
            try bench.finish()
        } catch {
            throw Deviation.failure(error, of: rule.name)
        }
    }

    /// Checks all rules, one after the other, on the caller's thread.
    ///
    /// - Returns: those that were broken.
    public func run() -> [ConformanceFailure] {
        Self.rules.compactMap { rule in
            do throws(ConformanceFailure) {
                try checkHere(rule)
                return nil
            } catch {
                return error
            }
        }
    }
}
