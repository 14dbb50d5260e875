internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// The journal that the page reads, and the engine that has it.
struct PageJournal: Sendable {
    /// The longest that a request searches; then it tells what it has found, and that there may be more.
    static let patience = Duration.seconds(2)

    let engine: PushEngine
    let directory: String
    /// The copy of the blacklist that hosts share.
    let blacklist: String?
    /// For those who read at a time.
    let places: WaitPlaces

    var desk: any OperatorDesk { engine.desk }

    /// Reads the journal's files, on a thread of its own.
    ///
    /// - Throws: ``PageRefusal`` while too many read, and what `body` throws.
    func read<R: Sendable>(_ body: @escaping @Sendable (JournalReader) throws -> R) async throws -> R {
        guard places.enter() else { throw PageRefusal.busy }
        defer { places.leave() }
        return try await OwnThread.run("holdfast-page") { () throws(any Error) in
            let reader = try JournalReader(directory: directory, blacklist: blacklist)
            defer { reader.close() }
            return try body(reader)
        }
    }
}

/// The bounded time of one request.
struct PageDeadline: Sendable {
    private let end = ContinuousClock.now + PageJournal.patience

    var hasPassed: Bool { .now >= end }
}
