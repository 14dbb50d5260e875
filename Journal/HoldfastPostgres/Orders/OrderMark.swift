internal import Holdfast

/// How far a journal has carried the fleet's orders out: the number of the newest one, and its stamp, since numbers come again in
/// a database that went back in time. A note of the journal keeps it.
///
///     0  u8    version: 1
///     1  u64   number
///     9        stamp, as text
package struct OrderMark: Hashable, Sendable {
    /// The name of the note.
    package static let noteName = "fleet/orders"
    private static let version: UInt8 = 1

    package var number: Int64
    /// Random, of each order.
    package var stamp: String

    package init(number: Int64, stamp: String) { (self.number, self.stamp) = (number, stamp) }

    /// - Returns: nil for bytes of another form. A journal that does not know how far it is carries all orders out.
    package init?(note bytes: [UInt8]) {
        guard bytes.count > 9, bytes[0] == Self.version else { return nil }
        number = Int64(bitPattern: bytes.span.littleEndian64(at: 1))
        stamp = String(decoding: bytes[9...], as: UTF8.self)
    }

    package var note: [UInt8] {
        var bytes: [UInt8] = [Self.version]
        bytes.appendLittleEndian(UInt64(bitPattern: number))
        return bytes + stamp.utf8
    }
}
