/// Says of which trouble a line is due: of each once, and again only behind a while without any. A journal at its limit has room
/// and none many times in a second. A pure machine.
struct ToldTrouble {
    /// For so long there has to be no trouble before the same is told again.
    static let quiet = Duration.seconds(60)

    private var last: String?
    private var wellSince: ContinuousClock.Instant?

    /// - Parameter trouble: nil for none.
    mutating func isNew(_ trouble: String?, at now: ContinuousClock.Instant) -> Bool {
        guard let trouble else {
            wellSince = wellSince ?? now
            return false
        }
        defer { (last, wellSince) = (trouble, nil) }
        return trouble != last || wellSince.map { now - $0 >= Self.quiet } ?? false
    }
}
