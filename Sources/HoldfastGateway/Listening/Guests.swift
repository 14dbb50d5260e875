/// Admits connections to a listener, and chooses which one is closed where there is no more room.
///
/// A connection is a stranger until it has shown credentials: a certificate, or an accepted request. While the listener
/// asks for credentials, strangers have only the places that no other connection wants. When none is left, the oldest
/// stranger of the address with the most strangers is closed. So an attacker that takes all places from one address
/// takes them from itself.
///
/// A pure machine.
struct Guests<ID: Hashable & Sendable>: Sendable {
    enum Admission: Hashable, Sendable {
        case admitted
        /// This one, a stranger, has to go for it.
        case inPlaceOf(ID)
        case refused(ListenerFault)
    }

    private struct Guest {
        let address: GuestAddress?
        /// Ascending in the order of arrival.
        let number: UInt64
    }

    /// Whether clients have to show credentials. Otherwise no stranger is closed for another one.
    var asksForCredentials: Bool

    private var guests: [ID: Guest] = [:]
    private var counts: [GuestAddress: Int] = [:]
    /// The strangers of each address.
    private var strangers: [GuestAddress?: [UInt64: ID]] = [:]
    private var next: UInt64 = 0

    init(asksForCredentials: Bool) { self.asksForCredentials = asksForCredentials }

    var count: Int { guests.count }
    var strangerCount: Int { strangers.values.reduce(0) { $0 + $1.count } }

    /// Admits a connection, if there is room.
    ///
    /// - Parameters:
    ///   - address: nil where there is none.
    ///   - limit: the most connections.
    ///   - addressLimit: the most connections from one address.
    ///   - hasRoom: whether there is room apart from these limits.
    mutating func admit(
        _ id: ID, from address: GuestAddress?, limit: Int, addressLimit: Int, hasRoom: Bool
    ) -> Admission {
        var admission = Admission.admitted
        let hasItsShare = address.map { counts[$0, default: 0] >= addressLimit } ?? false
        if hasItsShare || count >= limit || !hasRoom {
            // An address that has its share takes nothing from others.
            guard let stranger = hasItsShare ? oldest(strangers[address]) : strangerToGo() else {
                return .refused(hasItsShare ? .address : count >= limit ? .connections : .descriptors)
            }
            remove(stranger)
            admission = .inPlaceOf(stranger)
        }
        if let address { counts[address, default: 0] += 1 }
        guests[id] = Guest(address: address, number: next)
        strangers[address, default: [:]][next] = id
        next += 1
        return admission
    }

    /// Notes that the connection has shown credentials.
    mutating func proved(_ id: ID) {
        guard let guest = guests[id] else { return }
        forget(guest)
    }

    /// The credentials that it has shown hold no more: it is a stranger again, in its old place among them.
    mutating func doubted(_ id: ID) {
        guard let guest = guests[id] else { return }
        strangers[guest.address, default: [:]][guest.number] = id
    }

    /// Notes that the connection is closed. Does nothing for one that was closed for another.
    mutating func remove(_ id: ID) {
        guard let guest = guests.removeValue(forKey: id) else { return }
        forget(guest)
        guard let address = guest.address, let count = counts[address] else { return }
        counts[address] = count > 1 ? count - 1 : nil
    }

    private mutating func forget(_ guest: Guest) {
        strangers[guest.address]?[guest.number] = nil
        if strangers[guest.address]?.isEmpty == true { strangers[guest.address] = nil }
    }

    private func strangerToGo() -> ID? {
        guard asksForCredentials else { return nil }
        // Of two addresses with equal numbers, the one whose oldest came first: independent of the dictionary's order.
        let crowd = strangers.values.max { one, other in
            (one.count, other.keys.min() ?? 0) < (other.count, one.keys.min() ?? 0)
        }
        return oldest(crowd)
    }

    private func oldest(_ crowd: [UInt64: ID]?) -> ID? {
        asksForCredentials ? crowd?.min { $0.key < $1.key }?.value : nil
    }
}
