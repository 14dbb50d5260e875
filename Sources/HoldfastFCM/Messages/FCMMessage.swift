public import Holdfast

/// A message in the form of FCM's HTTP v1 interface, with its target taken out: `Message` in Google's reference
/// (firebase.google.com: *REST Resource: projects.messages*).
///
/// Only what is wrong in any version of Google's interface is refused: the target, and members of the wrong type. Members that
/// this program does not know go to the service, which knows them.
public struct FCMMessage: Hashable, Sendable {
    /// The device, topic or condition that it goes to.
    public var target: ServiceAddress
    /// The JSON object without its target, the payload of a notification: its members in the order in which they came, without
    /// insignificant spaces, and with text as UTF-8. Equal messages are equal bytes, however their sender writes JSON.
    public var content: [UInt8]
    /// From `android.priority`; without it, ``Holdfast/Priority/considerate`` for a message of data alone. `nil` for any
    /// other, whose default is high.
    public var priority: Priority?
    /// From `android.ttl`: the time that Google stores it, in whole seconds. `nil` for none.
    public var timeToLive: Duration?

    /// Reads a message.
    ///
    /// - Parameter json: the object, such as `{"fid":"cXy1","notification":{"title":"Hi"}}`.
    /// - Throws: ``Holdfast/Refusal`` with reason `INVALID_ARGUMENT` where it is no JSON object, does not have exactly one of
    ///   `fid`, `token`, `topic` and `condition`, or has something of the wrong type; with `BadAddress` where its target is none.
    public init(_ json: [UInt8]) throws(Refusal) { try self.init(json, in: 0..<json.count) }

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - bytes: hold the object in `range`.
    ///   - target: that of a message that names none; `nil` demands that it does.
    /// - Throws: as ``init(_:)``.
    package init(_ bytes: [UInt8], in range: Range<Int>, to target: ServiceAddress? = nil) throws(Refusal) {
        do throws(FCMMessageFault) {
            try self.init(reading: bytes, in: range, to: target)
        } catch {
            throw error.refusal
        }
    }

    /// The same for Google's interface.
    ///
    /// - Throws: ``FCMMessageFault`` in Google's words.
    package init(
        reading bytes: [UInt8], in range: Range<Int>, to target: ServiceAddress? = nil
    ) throws(FCMMessageFault) {
        var parts = FCMMessageParts()
        do throws(JSONFault) {
            var members = try JSONMembers(bytes.span, in: range)
            while let member = try members.next(bytes.span) { try parts.take(member, of: bytes.span) }
        } catch {
            throw FCMMessageFault(error)
        }
        if let fault = parts.fault { throw fault }
        self.target = try Self.target(parts.targets, or: target)
        (priority, timeToLive) = (parts.priority, parts.timeToLive)
        content = parts.content + [UInt8(ascii: "}")]
    }

    /// The expiration that the time to live means: 0 is one attempt.
    ///
    /// - Parameter now: when the message was accepted.
    public func expiration(at now: WallTime) -> Expiration? {
        timeToLive.map { $0 > .zero ? .at(now.advanced(by: $0).seconds) : .once }
    }

    private static func target(
        _ targets: [FCMMessageParts.Target], or given: ServiceAddress?
    ) throws(FCMMessageFault) -> ServiceAddress {
        if let given {
            guard let first = targets.first else { return given }
            throw FCMMessageFault("The message names its target itself, by \"\(first.name)\".", field: "message")
        }
        guard let target = targets.first, targets.count == 1 else {
            throw FCMMessageFault(
                targets.isEmpty
                    ? "Recipient of the message is not set."
                    : "Exactly one of the fields token, fid, topic and condition of the message must be set.",
                field: "message")
        }
        let field = "message.\(target.name)"
        if target.kind == .firebaseTopic, !isTopic(target.text) {
            throw FCMMessageFault("Malformed topic name", field: field, isOfAddress: true)
        }
        do throws(Refusal) {
            return try ServiceAddress(target.kind, target.text)
        } catch {
            throw FCMMessageFault(
                target.kind.isBroadcast
                    ? "Invalid condition expression provided."
                    : "The registration token is not a valid FCM registration token", field: field, isOfAddress: true)
        }
    }

    /// `[a-zA-Z0-9-_.~%]+`, as Google documents.
    private static func isTopic(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_.~%".utf8.contains($0) }
    }
}

extension PushNotification {
    /// A notification from a message of FCM's.
    ///
    /// - Parameters:
    ///   - project: the id of the project that it is sent for.
    ///   - now: when it was accepted, from which its time to live counts.
    public init(_ message: FCMMessage, project: String, at now: WallTime = EngineClock.system.wall()) {
        self.init(
            address: message.target, topic: project, payload: message.content, priority: message.priority,
            expiration: message.expiration(at: now))
    }
}
