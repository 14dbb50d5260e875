internal import Holdfast

/// The changes of this host that its copy does not show yet: those that the database has not got, and those that come back by
/// the feed. Look-ups take them into account, so that a change holds here at once.
///
/// A pure machine. Changes leave in the order in which they came.
struct PendingChanges: Sendable {
    /// One call, and the number after which the copy has what came of it.
    private struct Sent: Sendable {
        var changes: [SharedChange]
        var number: UInt64
    }

    private var waiting: [SharedChanges] = []
    private(set) var underWay: [SharedChanges] = []
    private var sent: [Sent] = []
    /// All of the above, by their recipients, in their order.
    private(set) var byRecipient: [Recipient: [SharedChange]] = [:]

    /// What the database has not got.
    var untoldCount: Int { waiting.count + underWay.count }

    mutating func take(_ changes: SharedChanges) {
        waiting.append(changes)
        for change in changes.changes { byRecipient[change.recipient, default: []].append(change) }
    }

    /// Begins a call with what waits, in its order, of about so many changes. One that was not answered is begun again.
    mutating func begin(atMost limit: Int) -> [SharedChanges] {
        guard underWay.isEmpty else { return underWay }
        var (count, size) = (0, 0)
        while count < waiting.count, count == 0 || size + waiting[count].changes.count <= limit {
            size += waiting[count].changes.count
            count += 1
        }
        underWay = Array(waiting.prefix(count))
        waiting.removeFirst(count)
        return underWay
    }

    /// The call was answered: the database has it, up to this number of the feed.
    mutating func told(upTo number: UInt64) {
        sent.append(Sent(changes: underWay.flatMap(\.changes), number: number))
        underWay = []
    }

    /// The copy has the feed up to this number.
    mutating func copied(upTo number: UInt64) {
        let done = sent.prefix { $0.number <= number }
        sent.removeFirst(done.count)
        for change in done.flatMap(\.changes) {
            byRecipient[change.recipient]?.removeFirst()
            if byRecipient[change.recipient]?.isEmpty == true { byRecipient[change.recipient] = nil }
        }
    }

    /// The feed has begun anew, with lower numbers.
    mutating func beganAnew() {
        for index in sent.indices { sent[index].number = 0 }
    }

    /// Takes back a call that the database has not been sent.
    ///
    /// - Returns: whether it was so.
    mutating func withdraw(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        let all = sent.flatMap(\.changes) + (underWay + waiting).flatMap(\.changes)
        byRecipient = Dictionary(grouping: all, by: \.recipient)
        return true
    }

    /// Nothing is told any more.
    ///
    /// - Returns: what nobody has answered.
    mutating func giveUp() -> [SharedChanges] {
        defer { (waiting, underWay) = ([], []) }
        return underWay + waiting
    }
}
