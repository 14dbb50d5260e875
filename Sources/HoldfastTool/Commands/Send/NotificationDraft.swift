internal import Foundation
internal import Holdfast
internal import HoldfastFCM
internal import HoldfastPayload
internal import HoldfastService

/// Notifications that were given by flags, as far as they are known before the journal is opened: all but their topic.
struct NotificationDraft: Sendable {
    /// Without its recipient and its topic.
    private let template: PushNotification
    private let recipients: [Recipient]
    /// Whether its topic must be that of a Live Activity on a device.
    private let isForLiveActivity: Bool
    /// Whether it is for Firebase Cloud Messaging: its topic is then a project.
    let isGoogles: Bool

    /// The draft that flags make; `nil` if no flag describes a notification.
    ///
    /// - Throws: ``ToolError`` with status `badInput` for a payload that is too large or no JSON object, and those of its file.
    static func read(_ options: NotificationOptions) async throws -> NotificationDraft? {
        options.firebase.targets.isEmpty
            ? try await NotificationDraft(options) : try await NotificationDraft(ofMessage: options)
    }

    private init?(_ options: NotificationOptions) async throws {
        isGoogles = false
        let recipients = try options.recipients
        guard let first = recipients.first else { return nil }
        self.recipients = recipients
        isForLiveActivity = options.event != nil && first.token != nil
        var expiration = options.expiration?.expiration(EngineClock.system.wall())
        if first.channel != nil { expiration = expiration?.ofBroadcast }
        if let argument = options.payload {
            let type = first.channel == nil ? options.pushType : .liveactivity
            template = PushNotification(
                recipient: first, topic: "", payload: try await JSONArgument.object(argument, of: "--payload"),
                pushType: type, priority: options.priority, expiration: expiration, collapseID: options.collapseID,
                id: options.id)
            return
        }
        var payload = Self.payload(options)
        let state: [UInt8]? =
            if let state = options.contentState { try await JSONArgument.object(state, of: "--content-state") } else {
                nil
            }
        do throws(APNsPayloadError) {
            if let state { payload.contentState = try .json(state) }
            if let channel = first.channel {
                template = try PushNotification(
                    channel: channel, topic: "", payload: payload, priority: options.priority, expiration: expiration,
                    id: options.id)
            } else if let token = first.token {
                template = try PushNotification(
                    token: token, topic: "", payload: payload, pushType: options.pushType, priority: options.priority,
                    expiration: expiration, collapseID: options.collapseID, id: options.id)
            } else {
                // Options name devices and channels only.
                return nil
            }
        } catch {
            throw ToolError(.badInput, error.message)
        }
    }

    /// A message for Firebase Cloud Messaging.
    private init(ofMessage options: NotificationOptions) async throws {
        let now = EngineClock.system.wall()
        let addresses = try options.firebase.addresses
        let expiration = options.expiration?.expiration(now)
        let content: [UInt8] =
            if let argument = options.payload {
                try await JSONArgument.object(argument, of: "--payload")
            } else {
                try options.firebase.content(title: options.title, body: options.alert, priority: options.priority)
            }
        do throws(Refusal) {
            let message = try FCMMessage(content, in: 0..<content.count, to: addresses[0])
            var notification = PushNotification(message, project: "", at: now)
            if let expiration { notification.expiration = expiration }
            notification.id = options.id
            template = notification
        } catch {
            throw ToolError(.badInput, error.detail)
        }
        recipients = addresses.map { .service($0) }
        (isForLiveActivity, isGoogles) = (false, true)
    }

    private static func payload(_ options: NotificationOptions) -> APNsPayload {
        var payload = APNsPayload(badge: options.badge)
        if options.alert != nil || options.title != nil || options.subtitle != nil {
            payload.alert = .init(title: options.title, subtitle: options.subtitle, body: options.alert)
        }
        payload.category = options.category
        payload.threadID = options.thread
        payload.isContentAvailable = options.contentAvailable
        payload.isMutableContent = options.mutableContent
        if let event = options.event {
            payload.event = event
            payload.timestamp = Date()
            if let sound = options.sound {
                payload.alert = payload.alert ?? .init()
                payload.alert?.sound = sound
            }
        } else {
            payload.sound = options.sound.map { APNsPayload.Sound($0) }
        }
        return payload
    }

    /// One for each recipient. Each has an apns-id from here on, since it is by that one that a journal remembers how it ended.
    ///
    /// - Throws: ``ToolError`` with status `usage` for a topic that is none of a Live Activity's.
    func notifications(
        topic: String, environment: PushEnvironment? = nil
    ) throws(ToolError) -> [PushNotification] {
        let ending = PushType.liveActivityTopicEnding
        guard !isForLiveActivity || topic.hasSuffix(ending) else {
            throw ToolError(.usage, "--event to a device needs a --topic that ends in \(ending); this one is \(topic)")
        }
        return recipients.map { recipient in
            var notification = template
            notification.recipient = recipient
            notification.topic = topic
            notification.environment = environment
            notification.id = template.id ?? NotificationID()
            return notification
        }
    }
}

/// A JSON object from the command line: itself, or `@` and the file that holds it.
enum JSONArgument {
    /// Bytes that are read of a file at most; APNs takes far fewer.
    static let maximumByteCount = 1 << 20

    /// The object as it is written, without what blank there is around it.
    ///
    /// - Parameter flag: for messages.
    static func object(_ argument: String, of flag: String) async throws(ToolError) -> [UInt8] {
        let (name, bytes) = try await bytes(argument, of: flag)
        do throws(JSONFault) {
            try JSONScanner.checkObject(bytes)
        } catch {
            throw ToolError(
                .badInput,
                "\(name) must be a JSON object: \(error.reason.rawValue), at byte \(error.offset + 1)")
        }
        // An object begins and ends with a brace, so these are there.
        let start = bytes.firstIndex(of: UInt8(ascii: "{"))!
        return Array(bytes[start...bytes.lastIndex(of: UInt8(ascii: "}"))!])
    }

    private static func bytes(
        _ argument: String, of flag: String
    ) async throws(ToolError) -> (name: String, bytes: [UInt8]) {
        guard argument.hasPrefix("@") else { return (flag, Array(argument.utf8)) }
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
