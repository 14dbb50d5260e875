/// An address at a push service that is not Apple's: one device, or all that follow a topic.
///
/// Addresses are compared byte by byte, under their kind. None is longer than ``maximumByteCount``.
public struct ServiceAddress: Hashable, Sendable {
    /// The most bytes of an address; endpoints of Web Push are the longest.
    public static let maximumByteCount = 2048

    /// The address as the service gave it, 1 to ``maximumByteCount`` bytes: of every known kind text in UTF-8.
    public let bytes: [UInt8]
    /// The service, and the sort of address there.
    public let kind: Kind

    /// - Parameter text: without spaces at its ends, and without control characters.
    /// - Throws: ``Refusal`` with reason `BadAddress`.
    public init(_ kind: Kind, _ text: some StringProtocol) throws(Refusal) {
        let bytes = Array(text.utf8)
        guard Self.isText(bytes) else {
            throw Refusal(.badAddress, "an address has no control characters, and no space at its ends")
        }
        try self.init(kind, bytes: bytes)
    }

    /// For addresses that are no text.
    ///
    /// - Throws: ``Refusal`` with reason `BadAddress` where there are none, or too many.
    public init(_ kind: Kind, bytes: [UInt8]) throws(Refusal) {
        guard kind.rawValue > 0 else { throw Refusal(.badAddress, "there is no kind of address 0") }
        guard (1...Self.maximumByteCount).contains(bytes.count) else {
            throw Refusal(
                .badAddress, "an address has 1 to \(Self.maximumByteCount) bytes; this one has \(bytes.count)")
        }
        self.init(checked: kind, bytes)
    }

    /// For bytes whose number was checked where they were read.
    init(checked kind: Kind, _ bytes: [UInt8]) {
        (self.kind, self.bytes) = (kind, bytes)
    }

    /// The service's own text. It is personal data where it names a device: see ``description`` for logs.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        guard bytes.first != 0x20, bytes.last != 0x20,
            let text = String(validating: bytes, as: UTF8.self)
        else { return false }
        // The control characters of ASCII, and the others that there are, of which U+009B begins what a terminal obeys.
        return text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
    }
}

extension ServiceAddress {
    /// The service, and the sort of address there. New ones come with new services: a journal may hold kinds that this
    /// program does not know, which are kept as they came.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The number in records; 0 is none.
        public let rawValue: UInt8
        /// Creates a kind from any number, also one that has no constant.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A Firebase installation id.
        public static let firebaseInstallation = Kind(rawValue: 1)
        /// A registration token of Firebase Cloud Messaging.
        public static let firebaseToken = Kind(rawValue: 2)
        /// A topic of Firebase Cloud Messaging: everybody who follows it.
        public static let firebaseTopic = Kind(rawValue: 3)
        /// A condition over topics of Firebase Cloud Messaging.
        public static let firebaseCondition = Kind(rawValue: 4)
        /// The endpoint of a Web Push subscription.
        public static let webPush = Kind(rawValue: 5)

        /// Whether it names no device, so that no answer says anything about one.
        public var isBroadcast: Bool { self == .firebaseTopic || self == .firebaseCondition }

        private static let names: [(Kind, String)] = [
            (.firebaseInstallation, "fid"), (.firebaseToken, "fcm-token"), (.firebaseTopic, "fcm-topic"),
            (.firebaseCondition, "fcm-condition"), (.webPush, "web-push"),
        ]

        /// For people: `fid, fcm-token or web-push`.
        static var allNames: String {
            names.dropLast().map(\.1).joined(separator: ", ") + (names.last.map { " or \($0.1)" } ?? "")
        }

        /// The word for it, or its number where it is not known.
        public var name: String { Self.names.first { $0.0 == self }?.1 ?? "\(rawValue)" }

        /// From the word or the number; nil for anything else.
        public init?(name: some StringProtocol) {
            if let known = Self.names.first(where: { $0.1 == name }) {
                self = known.0
            } else if let number = UInt8(name), name == "\(number)", number > 0 {
                rawValue = number
            } else {
                return nil
            }
        }
    }
}

extension ServiceAddress: CustomStringConvertible {
    /// The whole address in one line: `KIND:TEXT`, or `KIND#HEX` where it is no text. ``init(notation:)`` reads it.
    public var notation: String {
        Self.isText(bytes) ? "\(kind.name):\(text)" : "\(kind.name)#\(Hex.string(bytes))"
    }

    /// - Throws: ``Refusal`` with reason `BadAddress`.
    public init(notation: some StringProtocol) throws(Refusal) {
        // By its bytes: a character may be the colon and an accent that the address begins with.
        guard let end = notation.utf8.firstIndex(where: Self.isSeparator),
            let kind = Kind(name: notation[..<end])
        else {
            throw Refusal(
                .badAddress,
                "an address is written KIND:TEXT, such as fid:cXy1, or KIND#HEX, where KIND is \(Kind.allNames)")
        }
        let rest = Array(notation.utf8[notation.utf8.index(after: end)...])
        if notation.utf8[end] == UInt8(ascii: ":") {
            try self.init(kind, String(decoding: rest, as: UTF8.self))
        } else if let bytes = Hex.bytes(rest.span) {
            try self.init(kind, bytes: bytes)
        } else {
            throw Refusal(.badAddress, "behind # an address has an even number of hex digits")
        }
    }

    /// Ends the kind in a ``notation``.
    package static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ":") || byte == UInt8(ascii: "#") }

    /// Shortened where it names a device, so that an address never reaches a log whole by accident.
    public var description: String {
        if kind.isBroadcast { return notation }
        // A quarter at most, so that short ones differ in a list, too.
        guard Self.isText(bytes) else {
            return "\(kind.name)#…\(Hex.string(bytes.suffix(min(bytes.count / 4, 2))))"
        }
        // The front of an endpoint is the service's. By scalars: a single character may be as long as the address.
        let scalars = text.unicodeScalars
        return "\(kind.name):…\(String(String.UnicodeScalarView(scalars.suffix(min(scalars.count / 4, 4)))))"
    }
}
