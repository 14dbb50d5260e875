internal import Foundation
internal import Holdfast
internal import HoldfastService

/// Whose report a file is: written once.
struct ReportHeader: Codable, Equatable {
    static let currentVersion = 1

    var version = Self.currentVersion
    /// The input, absolute; nil for one that can't be resumed.
    var input: String?
    var device: UInt64?
    var inode: UInt64?
    /// The journal's directory, absolute.
    var journal: String
    /// The key of the apns-ids that lines without one are given: see ``LineIDs``.
    var key: [UInt64]

    /// Whether a run over this input and journal may complete the report.
    func isOf(_ file: InputFile, journal: String) -> Bool {
        guard let identity = file.identity, let device, let inode else { return false }
        return identity == FileIdentity(device: device, inode: inode) && self.journal == journal
    }

    var ids: LineIDs? { key.count == 2 ? LineIDs(key: IdentityKey(first: key[0], second: key[1])) : nil }
}

/// How far a report has come. All that files hold beyond it is written again.
struct ReportState: Codable, Equatable {
    /// Lines of the input that are in the report or in ``records``.
    var lines = 0
    /// Where the next line begins.
    var offset: UInt64 = 0
    /// Notifications of the next line that were taken already.
    var part: Int?
    /// Accepted notifications, each with its line.
    var records = 0
    /// Bytes of the report.
    var bytes: UInt64 = 0
    /// Outcomes up to this one are in the report.
    var cursor: UInt64 = 0
}

/// Blocks of fixed size, each with a fingerprint in front: one that was torn is told from a whole one.
enum ReportBlock {
    static func encode(_ value: some Encodable, size: Int) throws(ToolError) -> [UInt8] {
        let text: [UInt8]
        do { text = Array(try JSONOutput.line(value).utf8) } catch { throw ToolError(.internalFault, "\(error)") }
        guard text.count + 8 <= size else { throw ToolError(.usage, "a path is too long to be noted with a report") }
        let padded = text + Array(repeating: UInt8(ascii: " "), count: size - 8 - text.count)
        return UInt64Bytes.of(Fingerprint.of(padded)) + padded
    }

    /// - Returns: nil for a block that is not whole.
    static func decode<Value: Decodable>(_ type: Value.Type, _ block: [UInt8]) -> Value? {
        guard block.count > 8, UInt64Bytes.value(block[0..<8]) == Fingerprint.of(block[8...]) else { return nil }
        return try? JSONDecoder().decode(type, from: Data(block[8...]))
    }
}

/// Numbers of eight bytes, little-endian.
enum UInt64Bytes {
    static func of(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) } }

    static func value(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
