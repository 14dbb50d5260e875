package import Holdfast

/// A journal as the database lists it.
package struct ListedJournal: Hashable, Sendable {
    package let id: Int32
    package let name: String
    /// That took it last; `nil` before the first.
    package let host: String?
    package let sighting: Sighting
    /// Whether it was given up with nothing left in it to be delivered.
    package let isClosed: Bool

    package init(id: Int32, name: String, host: String?, sighting: Sighting, isClosed: Bool) {
        self.id = id
        self.name = name
        self.host = host
        self.sighting = sighting
        self.isClosed = isClosed
    }
}
