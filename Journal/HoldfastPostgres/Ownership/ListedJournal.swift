package import Holdfast

/// A journal as the database lists it.
package struct ListedJournal: Hashable, Sendable {
    package let id: Int32
    package let name: String
    /// That took it last; `nil` before the first.
    package let host: String?
    package let sighting: Sighting
    /// Whether it has nothing in it: since it was given up so, or made, nobody has accepted into it. With an owner, it is being opened.
    package let isClosed: Bool

    /// The bits of a UID below the number of its journal. With up to 512 journals, a UID is exact where numbers are
    /// floating-point ones.
    package static let uidBits = 44

    /// The number of the journal that has given out a UID; 0 for one that no database has.
    package static func number(of uid: UID) -> Int32 { Int32(truncatingIfNeeded: uid.rawValue >> uidBits) }

    /// Whether it may have something that nobody delivers: it has no owner, and was not given up empty. One that nobody has
    /// taken yet has nothing.
    package var isLeft: Bool { sighting.isFree && !isClosed && host != nil }

    /// Whether nobody serves it, and nobody takes it over, as it has nothing to be delivered.
    package var isUnserved: Bool { sighting.isFree && !isLeft }

    package init(id: Int32, name: String, host: String?, sighting: Sighting, isClosed: Bool) {
        self.id = id
        self.name = name
        self.host = host
        self.sighting = sighting
        self.isClosed = isClosed
    }
}
