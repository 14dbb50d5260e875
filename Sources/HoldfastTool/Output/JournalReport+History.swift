internal import HoldfastControl
internal import HoldfastService

extension HistoryForm {
    /// What can be found in it, for people.
    ///
    /// - Parameter isInUse: whether a process says so. At rest the last one did, if any has delivered from the journal: an import
    ///   alone says nothing.
    func words(isInUse: Bool = true) -> String {
        let off = "journal.history " + (isInUse ? "is off" : "was off when it was last delivered from, if it was")
        guard let oldest = oldestAt else {
            return isKept ? "ended notifications, which can be found" : "none is kept: \(off)"
        }
        return "ended since \(oldest.text), which can be found; \(Format.bytes(bytes))"
            + (lost.map { "; \(Format.count($0)) more are lost by damage" } ?? "")
            + (isKept ? "" : "; none is added: \(off)")
    }
}
