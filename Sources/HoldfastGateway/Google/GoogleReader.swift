internal import Holdfast
internal import HoldfastAPNsAnswers
internal import HoldfastFCM

/// Turns a request of Google's interface into a notification, or into Google's refusal.
enum GoogleReader {
    /// A request that was read.
    struct Request {
        var notification: PushNotification
        /// Whether it is only to be checked.
        let validatesOnly: Bool
    }

    /// The project of `POST /v1/projects/PROJECT/messages:send`; a query behind it is passed over.
    static func project(_ fields: RequestFields) throws(GoogleError) -> String {
        let path = (fields.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let beginning = String(decoding: RequestFields.projects, as: UTF8.self)
        guard let end = endings.first(where: { path.hasSuffix($0) }), fields.isPost,
            path.utf8.count > beginning.utf8.count + end.utf8.count
        else { throw .notFound }
        let project = String(path.dropFirst(beginning.count).dropLast(end.count))
        guard ServiceAccount.isProject(project) else { throw .notFound }
        return project
    }

    private static let endings = ["/messages:send", "/messages%3Asend", "/messages%3asend"]

    /// - Parameters:
    ///   - project: the topic.
    ///   - id: the sender's own; nil for none.
    ///   - now: from when a message's `ttl` counts, unless it goes later.
    static func read(
        _ fields: RequestFields, _ body: ArraySlice<UInt8>, project: String, id: NotificationID?, now: WallTime,
        _ reader: RequestReader
    ) throws(GoogleError) -> Request {
        let sent: FCMSendBody
        do throws(FCMMessageFault) {
            sent = try FCMSendBody(Array(body))
        } catch {
            throw GoogleError(error)
        }
        var notification = PushNotification(
            address: sent.message.target, topic: project, payload: sent.message.content,
            priority: sent.message.priority, id: id)
        do throws(Refusal) {
            guard id != nil || fields.ownID == nil else { throw Refusal(.badMessageID, "holdfast-id is not a UUID") }
            guard fields.environment == nil else {
                throw Refusal(.badEnvironment, "holdfast-environment is for Apple's devices")
            }
            try RequestReader.readRegistration(fields, into: &notification)
            try reader.readOwnFields(fields, into: &notification)
        } catch {
            throw GoogleError(error)
        }
        if let time = sent.message.timeToLive {
            notification.expiration =
                time == .zero ? .once : .at((notification.opening(at: now) ?? now).advanced(by: time).seconds)
        }
        return Request(notification: notification, validatesOnly: sent.validatesOnly)
    }
}
