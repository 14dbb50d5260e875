internal import Holdfast

/// One line of a mock's ledger.
struct LedgerLine {
    /// The push service whose mock writes such a line.
    enum Service: Hashable {
        case apple, google

        init(_ recipient: Recipient) { self = recipient.serviceAddress == nil ? .apple : .google }

        /// For messages.
        var words: (mock: String, name: String) {
            switch self {
            case .apple: ("a mock of Apple's", "Apple")
            case .google: ("`holdfast mock fcm`", "Firebase Cloud Messaging")
            }
        }
    }

    /// The mark by which a notification is told from others to the same recipient.
    enum Mark: Hashable {
        /// The `apns-id`.
        case id(NotificationID)
        /// A digest of the payload: of the binary protocol, and of FCM's messages without an id.
        case digest(UInt64)
        /// An id of the sender's own, under the key that `mock fcm --id-key` names.
        case foreign(String)
    }

    let mark: Mark
    let recipient: Recipient

    var service: Service { Service(recipient) }

    /// - Parameter bytes: without the newline.
    /// - Returns: nil for a line of no ledger, or a damaged one.
    init?(_ bytes: [UInt8], _ range: Range<Int>) {
        var (id, digest, target): (String?, UInt64?, String?)
        var apnsID: NotificationID?
        var recipient: Recipient?
        do {
            var members = try JSONMembers(bytes.span, in: range)
            while let member = try members.next(bytes.span) {
                func text() throws -> String { try JSONScanner.string(bytes.span, in: member.value.range) }
                func isNamed(_ name: String) -> Bool {
                    JSONScanner.isString(bytes.span, in: member.name, equalTo: name)
                }
                if isNamed("apns-id") {
                    apnsID = NotificationID(try text())
                } else if isNamed("payload") {
                    digest = UInt64(try text(), radix: 16)
                } else if isNamed("token") {
                    recipient = .device(try DeviceToken(try text()))
                } else if isNamed("channel") {
                    recipient = .channel(try BroadcastChannel(try text()))
                } else if isNamed("id") {
                    id = try text()
                } else if isNamed("target") {
                    target = try text()
                }
            }
        } catch {
            return nil
        }
        if let target, recipient == nil, let id, let address = Self.address(target) {
            self.recipient = .service(address)
            mark = Self.mark(ofMessage: id)
        } else if let recipient,
            let known = (apnsID ?? id.flatMap { NotificationID($0) }).map(Mark.id)
                ?? digest.map(Mark.digest)
        {
            (self.recipient, mark) = (recipient, known)
        } else {
            return nil
        }
    }

    /// A message's own id, or the digest that the mock takes for one, of 32 digits.
    private static func mark(ofMessage text: String) -> Mark {
        if let id = NotificationID(text) { return .id(id) }
        guard text.utf8.count == 32, let digest = UInt64(text.prefix(16), radix: 16) else { return .foreign(text) }
        return .digest(digest)
    }

    /// From Google's name for a target, and its text: `token:dGVzdA`.
    private static func address(_ text: String) -> ServiceAddress? {
        let kinds: [String: ServiceAddress.Kind] = [
            "fid": .firebaseInstallation, "token": .firebaseToken, "topic": .firebaseTopic,
            "condition": .firebaseCondition,
        ]
        guard let colon = text.firstIndex(of: ":"), let kind = kinds[String(text[..<colon])] else { return nil }
        return try? ServiceAddress(kind, text[text.index(after: colon)...])
    }
}
