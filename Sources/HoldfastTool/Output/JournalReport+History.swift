internal import HoldfastControl
internal import HoldfastService

extension HistoryForm {
    /// What can be found in it, for people.
    var words: String {
        guard let oldest = oldestAt else {
            return isKept ? "ended notifications, which can be found" : "none is kept: journal.history is off"
        }
        return "ended since \(oldest.text), which can be found; \(Format.bytes(bytes))"
            + (lost.map { "; \(Format.count($0)) more are lost by damage" } ?? "")
            + (isKept ? "" : "; none is added: journal.history is off")
    }
}
