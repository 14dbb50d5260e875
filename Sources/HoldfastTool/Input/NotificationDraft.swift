internal import Foundation
internal import Holdfast
internal import HoldfastPayload

/// Notifications that were given by flags, as far as they are known before the journal is opened: all but their topic.
struct NotificationDraft: Sendable {
    /// The first one.
    private let template: PushNotification
    private let tokens: [DeviceToken]

    /// Nil where no flag says anything of a notification.
    ///
    /// - Throws: ``ToolError`` with status `badInput` for a payload that is too large or no JSON object, and those of its file.
    init?(_ options: NotificationOptions) async throws {
        guard !options.given.isEmpty else { return nil }
        tokens = try options.token.map { text throws(Refusal) in try DeviceToken(sanitizing: text) }
        let expiration = options.expiration?.expiration(EngineClock.system.wall())
        if let argument = options.payload {
            let payload = try await PayloadArgument.read(argument)
            template = PushNotification(
                token: tokens[0], topic: "", payload: payload, pushType: options.pushType, priority: options.priority,
                expiration: expiration, collapseID: options.collapseID, id: options.id)
        } else {
            do throws(APNsPayloadError) {
                template = try PushNotification(
                    payload: Self.payload(options), token: tokens[0], topic: "", pushType: options.pushType,
                    priority: options.priority, expiration: expiration, collapseID: options.collapseID, id: options.id)
            } catch {
                throw ToolError(.badInput, error.message)
            }
        }
    }

    private static func payload(_ options: NotificationOptions) -> APNsPayload {
        var payload = APNsPayload(badge: options.badge, sound: options.sound.map { APNsPayload.Sound($0) })
        if options.alert != nil || options.title != nil || options.subtitle != nil {
            payload.alert = .init(title: options.title, subtitle: options.subtitle, body: options.alert)
        }
        payload.category = options.category
        payload.threadID = options.thread
        payload.isContentAvailable = options.contentAvailable
        payload.isMutableContent = options.mutableContent
        return payload
    }

    /// One for each token. Each has an apns-id from here on, since it is by that one that a journal remembers how it ended.
    func notifications(topic: String) -> [PushNotification] {
        tokens.map { token in
            var notification = template
            notification.recipient = .device(token)
            notification.topic = topic
            notification.id = template.id ?? NotificationID()
            return notification
        }
    }
}

/// A payload from the command line: itself, or `@` and the file that holds it.
enum PayloadArgument {
    /// Bytes that are read of a file at most; APNs takes far fewer.
    static let maximumByteCount = 1 << 20

    /// The JSON object, without what blank there is around it.
    static func read(_ argument: String) async throws(ToolError) -> [UInt8] {
        let (name, bytes) = try await bytes(argument)
        do throws(JSONFault) {
            try JSONScanner.checkObject(bytes)
        } catch {
            throw ToolError(.badInput, "\(name) must be a JSON object: \(error)")
        }
        // An object begins and ends with a brace, so these are there.
        let start = bytes.firstIndex(of: UInt8(ascii: "{"))!
        return Array(bytes[start...bytes.lastIndex(of: UInt8(ascii: "}"))!])
    }

    private static func bytes(_ argument: String) async throws(ToolError) -> (name: String, bytes: [UInt8]) {
        guard argument.hasPrefix("@") else { return ("--payload", Array(argument.utf8)) }
        let file = try InputFile(String(argument.dropFirst()))
        var bytes: [UInt8] = []
        while true {
            let piece = try await file.source.read(name: file.name)
            guard !piece.isEmpty else { return (file.name, bytes) }
            bytes += piece
            guard bytes.count <= maximumByteCount else {
                throw ToolError(
                    .badInput, "\(file.name) is no payload: it has more than \(Format.bytes(maximumByteCount))")
            }
        }
    }
}
