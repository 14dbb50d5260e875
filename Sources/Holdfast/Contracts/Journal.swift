/// The durable store of accepted notifications, which an application opens and passes to a ``PushEngine``.
///
///     let journal = try LMDBJournal(directory: "/var/lib/app/journal")
///     let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)])
///
/// There are two: `LMDBJournal` (module `HoldfastJournal`) keeps it in a directory, and `InMemoryJournal` (module
/// `HoldfastTesting`) in memory, for tests. An application cannot write another one, because nobody outside of this package can
/// make a ``JournalHandle``.
public protocol Journal: AnyObject, Sendable {
    /// The journal as engines, desks and conformance suites use it.
    var handle: JournalHandle { get }
}

/// The way from a ``Journal`` to its calls, for engines. It is opaque to applications, and only this package can make one.
public struct JournalHandle: Sendable {
    package let service: any JournalService

    package init(_ service: any JournalService) { self.service = service }
}
