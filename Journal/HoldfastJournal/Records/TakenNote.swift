import Holdfast
import HoldfastLMDB

/// A note of the rows that one commit has taken out of the queue of the journal's gate: what a database that has lost the
/// commit has to be told, when the rows are in its queue again.
///
/// Its name is `taken ` and the commit's number in 16 hex digits. Its value: the first UID behind the commit (u64), when the rows
/// were accepted (i64, milliseconds), and 16 bytes of each row: number and time.
struct TakenNote {
    static let prefix = Array("taken ".utf8)
    /// Of the last note that was forgotten, the number (u64).
    static let forgottenName = "taken-until"
    private static let headByteCount = 16
    private static let rowByteCount = 16

    /// Of what was taken before so many notifications, nothing is remembered.
    static let greatestDistance: UInt64 = 1_000_000
    /// And of what was taken before so long.
    static let greatestAge = Duration.seconds(3600)

    let number: UInt64
    let nextUID: UInt64
    let acceptedAt: WallTime
    let rows: [QueueRow]

    init(number: UInt64, nextUID: UInt64, acceptedAt: WallTime, rows: [QueueRow]) {
        self.number = number
        self.nextUID = nextUID
        self.acceptedAt = acceptedAt
        self.rows = rows
    }

    /// - Returns: `nil` for a note of another kind, or one that can't be read.
    init?(key: [UInt8], record: [UInt8]) {
        guard let number = Self.number(of: key), let value = try? NoteRecord.value(record, name: key),
            value.count >= Self.headByteCount,
            (value.count - Self.headByteCount) % Self.rowByteCount == 0
        else { return nil }
        var rows: [QueueRow] = []
        for offset in stride(from: Self.headByteCount, to: value.count, by: Self.rowByteCount) {
            rows.append(QueueRow(number: Self.signed(value, offset), time: Self.signed(value, offset + 8)))
        }
        self.init(
            number: number, nextUID: value.span.littleEndian64(at: 0),
            acceptedAt: WallTime(milliseconds: Self.signed(value, 8)), rows: rows)
    }

    private static func signed(_ value: [UInt8], _ offset: Int) -> Int64 {
        Int64(bitPattern: value.span.littleEndian64(at: offset))
    }

    /// - Returns: `nil` for the key of a note of another kind.
    static func number(of key: [UInt8]) -> UInt64? {
        guard key.starts(with: prefix) else { return nil }
        return UInt64(String(decoding: key.dropFirst(prefix.count), as: UTF8.self), radix: 16)
    }

    static func key(_ number: UInt64) -> [UInt8] {
        let digits = String(number, radix: 16)
        return prefix + Array((String(repeating: "0", count: 16 - digits.count) + digits).utf8)
    }

    var value: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headByteCount + rows.count * Self.rowByteCount)
        bytes.appendLittleEndian(nextUID)
        bytes.appendLittleEndian(UInt64(bitPattern: acceptedAt.milliseconds))
        for row in rows {
            bytes.appendLittleEndian(UInt64(bitPattern: row.number))
            bytes.appendLittleEndian(UInt64(bitPattern: row.time))
        }
        return bytes
    }

    /// Whether it is forgotten with a commit.
    func isOld(nextUID: UInt64, at time: WallTime) -> Bool {
        self.nextUID + Self.greatestDistance < nextUID || acceptedAt.advanced(by: Self.greatestAge) < time
    }
}
