/// A broadcast channel of a ``MockAPNsServer``: what devices with a Live Activity subscribe to.
public struct MockChannel: Hashable, Sendable {
    /// What the service keeps for devices that are not connected: Apple's `message-storage-policy`.
    public enum Storage: Int, Sendable, CaseIterable {
        /// Nothing. A broadcast must then have the expiration 0.
        case none = 0
        /// The broadcast that was sent last, until it expires.
        case latest = 1
    }

    /// The app it belongs to.
    public var bundleID: String
    /// Base64, as in `apns-channel-id`.
    public var id: String
    public var storage: Storage

    public init(bundleID: String, id: String, storage: Storage = .latest) {
        self.bundleID = bundleID
        self.id = id
        self.storage = storage
    }

    /// Characters of an id that are looked at. Apple documents that there is a limit, not where it is; the ids it gives
    /// have 24.
    static let idLimit = 100

    /// Whether it has the form of a channel's id: base64 (RFC 4648 section 4) of something, with its padding.
    public static func isID(_ text: String) -> Bool {
        let bytes = Array(text.utf8.prefix(idLimit + 1))
        guard !bytes.isEmpty, bytes.count <= idLimit, bytes.count.isMultiple(of: 4) else { return false }
        let padding = bytes.suffix(2).count { $0 == UInt8(ascii: "=") }
        if padding == 1, bytes.last != UInt8(ascii: "=") { return false }
        return bytes.dropLast(padding).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"),
                UInt8(ascii: "/"):
                true
            default: ASCII.isDigit(byte)
            }
        }
    }
}
