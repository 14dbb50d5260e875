import Holdfast

/// The room in a full journal that is taken by records that wait for no delivery, where it is worth naming.
struct KeptRoom: Sendable {
    /// The part of the limit below which a kind of record is not named.
    private static let leastPart = 8

    private struct Kind {
        let words: String
        let bytes: Int
        /// For the operator; nil where nothing has to be done.
        let advice: JournalError.Advice?
    }

    /// For people, behind the bytes in use; empty where there is nothing to name.
    let words: String
    /// For the operator, where one kind alone takes half of the limit; nil where delivery makes room.
    let advice: JournalError.Advice?

    init(_ figures: CommitFigures, pageByteCount: Int, limit: Int) {
        let kinds = [
            Kind(
                words: counted(figures.rejections, "rejection", "rejections"),
                bytes: figures.rejectionPages * pageByteCount, advice: Self.rejections),
            Kind(
                words: counted(figures.quarantined, "quarantined entry", "quarantined entries"),
                bytes: figures.quarantinePages * pageByteCount, advice: Self.quarantine),
            Kind(
                words: counted(figures.identities, "remembered apns-id", "remembered apns-ids"),
                bytes: figures.identityPages * pageByteCount, advice: nil),
        ]
        let named = kinds.filter { kind in kind.bytes >= limit / Self.leastPart }.sorted { $0.bytes > $1.bytes }
        words = named.map { kind in ", \(kind.bytes) of them by \(kind.words)" }.joined()
        advice = named.first { kind in kind.bytes >= limit / 2 }?.advice
    }

    private static let rejections = JournalError.Advice(
        "rejections that are kept take most of the room: discard those that nobody needs, keep fewer "
            + "(`limits.rejections`), or raise the journal's limit (`journal.limit`)",
        command: "holdfast rejections list --count")
    private static let quarantine = JournalError.Advice(
        "entries in quarantine take most of the room: retry them, or take back what can't be mended, or raise the "
            + "journal's limit (`journal.limit`)", command: "holdfast journal quarantine list")
}
