/// Who is inside at a listener, and who has to go where there is no more room.
///
/// On a listener that asks for credentials, a connection is a stranger until it has proven something: by a certificate, or by
/// a request that is let in. Strangers have the places that nobody else wants. When there is none left, one of those from the
/// address that has the most strangers goes, the oldest: so whoever keeps all places from one address takes them from
/// himself.
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
        /// Strangers in the order in which they came; nil for who has proven itself.
        var stranger: UInt64?
    }

    private var guests: [ID: Guest] = [:]
    private var counts: [GuestAddress: Int] = [:]
    /// Of each address its strangers.
    private var strangers: [GuestAddress?: [UInt64: ID]] = [:]
    private var next: UInt64 = 0

    init() {}

    var count: Int { guests.count }
    var strangerCount: Int { strangers.values.reduce(0) { $0 + $1.count } }

    /// Lets one in, if it may come.
    ///
    /// - Parameters:
    ///   - address: nil for who has none.
    ///   - isStranger: whether it has to prove itself.
    ///   - limit: as many may be inside.
    ///   - addressLimit: as many may be inside from one address.
    ///   - hasRoom: whether there is room apart from these limits.
    mutating func admit(
        _ id: ID, from address: GuestAddress?, isStranger: Bool, limit: Int, addressLimit: Int, hasRoom: Bool
    ) -> Admission {
        var admission = Admission.admitted
        let hasItsShare = address.map { counts[$0, default: 0] >= addressLimit } ?? false
        if hasItsShare || count >= limit || !hasRoom {
            // Whoever comes from an address that has its share takes nothing from others.
            guard let stranger = hasItsShare ? oldest(strangers[address]) : strangerToGo() else {
                return .refused(hasItsShare ? .address : count >= limit ? .connections : .descriptors)
            }
            remove(stranger)
            admission = .inPlaceOf(stranger)
        }
        if let address { counts[address, default: 0] += 1 }
        guests[id] = Guest(address: address, stranger: isStranger ? next : nil)
        if isStranger { strangers[address, default: [:]][next] = id }
        next += 1
        return admission
    }

    /// It is no stranger any more.
    mutating func proved(_ id: ID) {
        guard let guest = guests[id], let number = guest.stranger else { return }
        guests[id]?.stranger = nil
        forget(number, from: guest.address)
    }

    /// It has gone. Does nothing for one that had to.
    mutating func remove(_ id: ID) {
        guard let guest = guests.removeValue(forKey: id) else { return }
        if let number = guest.stranger { forget(number, from: guest.address) }
        guard let address = guest.address, let count = counts[address] else { return }
        counts[address] = count > 1 ? count - 1 : nil
    }

    private mutating func forget(_ number: UInt64, from address: GuestAddress?) {
        strangers[address]?[number] = nil
        if strangers[address]?.isEmpty == true { strangers[address] = nil }
    }

    private func strangerToGo() -> ID? {
        // Of two addresses with as many, the one whose oldest came first: the same for whatever order a dictionary has.
        let crowd = strangers.values.max { one, other in
            (one.count, other.keys.min() ?? 0) < (other.count, one.keys.min() ?? 0)
        }
        return oldest(crowd)
    }

    private func oldest(_ crowd: [UInt64: ID]?) -> ID? { crowd?.min { $0.key < $1.key }?.value }
}
