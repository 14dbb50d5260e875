import HoldfastMocking

/// A broadcast channel of a ``MockAPNsServer``, to which devices with a Live Activity subscribe.
public struct MockChannel: Hashable, Sendable {
    /// The storage for devices that are offline: Apple's `message-storage-policy`. Closed, with Apple's two numbers as
    /// raw values.
    public enum Storage: Int, Sendable, CaseIterable {
        /// Stores nothing. A broadcast must then have the expiration 0.
        case none = 0
        /// Stores the last broadcast until it expires.
        case latest = 1
    }

    /// The bundle identifier of the app that it belongs to.
    public var bundleID: String
    /// The channel id: base64, as in `apns-channel-id`.
    public var id: String
    /// The storage. Default: ``Storage/latest``.
    public var storage: Storage

    /// Creates a channel.
    public init(bundleID: String, id: String, storage: Storage = .latest) {
        self.bundleID = bundleID
        self.id = id
        self.storage = storage
    }

    /// The most characters of an id. Apple documents that there is a limit, but not which; Apple's ids have 24.
    static let idLimit = 100

    /// Whether the text has the form of a channel id: non-empty base64 (RFC 4648 section 4) with its padding.
    package static func isID(_ text: String) -> Bool {
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
