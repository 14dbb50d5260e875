internal import Foundation
internal import Holdfast
internal import HoldfastService
internal import Logging

/// One line of a service's log, in each of its formats.
struct LogLineText {
    let level: Logger.Level
    let message: String
    let label: String
    let metadata: Logger.Metadata

    /// A line is one line, whatever the service on the other side says.
    private var plain: String { message.split(whereSeparator: \.isNewline).joined(separator: " · ").withoutControls }

    /// - Parameter time: nil for systemd's journal, which has the time, and reads the priority.
    func text(at time: WallTime?) -> String {
        guard let time else { return "<\(level.priority)>\(plain)" }
        let date = Date(timeIntervalSince1970: TimeInterval(time.seconds))
        return "\(date.formatted(.iso8601)) \(level): \(plain)"
    }

    // MARK: JSON

    /// Members that the metadata can't replace.
    private static let own: Set<String> = ["time", "level", "logger", "message"]

    /// An object with the metadata as members.
    func json(at time: WallTime) -> String {
        var members: [String: LogValue] = [
            "time": .text(Timestamp.format(time)), "level": .text(level.rawValue), "logger": .text(label),
            "message": .text(plain),
        ]
        for (key, value) in metadata { members[Self.own.contains(key) ? "metadata-\(key)" : key] = LogValue(value) }
        do {
            return try JSONOutput.line(members)
        } catch {
            // No value of these can fail to be written. The line is told all the same.
            return text(at: time)
        }
    }

    // MARK: systemd's journal

    /// An entry of the native protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL): `MESSAGE`, `PRIORITY`, and the metadata as
    /// `HOLDFAST_` with the name in capitals.
    var entry: [UInt8] {
        var bytes: [UInt8] = []
        Self.append("MESSAGE", plain, to: &bytes)
        Self.append("PRIORITY", "\(level.priority)", to: &bytes)
        Self.append("SYSLOG_IDENTIFIER", "holdfast", to: &bytes)
        Self.append("HOLDFAST_LOGGER", label, to: &bytes)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            Self.append("HOLDFAST_" + Self.name(key), LogValue(value).plain, to: &bytes)
        }
        return bytes
    }

    /// Capitals, digits and underscores, as names of fields are; at most 64.
    private static func name(_ key: String) -> String {
        String(
            key.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }.prefix(
                64 - "HOLDFAST_".count))
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes += name.utf8
        if value.utf8.contains(10) {
            // With its length, since it has line breaks of its own.
            bytes.append(10)
            let count = UInt64(value.utf8.count)
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> UInt64(shift)))
            }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value.utf8
        bytes.append(10)
    }
}

/// A value of a line's metadata: numbers stay numbers.
enum LogValue: Encodable, Equatable {
    case text(String)
    case integer(Int)
    case number(Double)
    case flag(Bool)
    case list([LogValue])
    case object([String: LogValue])

    init(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): self = .text(text.withoutControls)
        case .stringConvertible(let value):
            switch value {
            case let value as Int: self = .integer(value)
            case let value as UID: self = Int(exactly: value.rawValue).map { .integer($0) } ?? .text("\(value)")
            case let value as Bool: self = .flag(value)
            case let value as Double where value.isFinite: self = .number(value)
            default: self = .text("\(value)".withoutControls)
            }
        case .array(let values): self = .list(values.map(LogValue.init))
        case .dictionary(let values): self = .object(values.mapValues(LogValue.init))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }

    /// As text.
    var plain: String {
        switch self {
        case .text(let text): text
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .flag(let value): "\(value)"
        case .list(let values): values.map(\.plain).joined(separator: ", ")
        case .object(let values):
            values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.plain)" }.joined(separator: ", ")
        }
    }
}

extension Logger.Level {
    /// syslog's, as sd-daemon(3) has it.
    var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
