internal import Holdfast
internal import HoldfastAPNsAnswers
internal import HoldfastLegacyAPNs

/// The end of one notification that a client of the binary protocol has sent, once it is known.
///
/// It outlives the connection: a client that sends again what it was told to be discarded is told its end then.
final class BinaryFate: Sendable {
    enum Ending: Hashable, Sendable {
        /// Taken, or nothing that an error could say.
        case fine
        /// Rejected for good.
        case rejected(BinaryStatus)
    }

    private struct State: Sendable {
        var ending: Ending?
        var tell: (@Sendable (Ending) -> Void)?
        var forget: (@Sendable () -> Void)?
    }

    private let state = Monitor(State())

    /// - Parameter outcome: nil if the engine has ended first.
    func end(_ outcome: Outcome?) {
        var ending = Ending.fine
        if case .rejected(let reason)? = outcome?.terminal { ending = .rejected(BinaryStatus(rejection: reason)) }
        end(ending)
    }

    func end(_ ending: Ending) {
        let tell = state.withLock { state in
            state.ending = ending
            state.forget = nil
            defer { state.tell = nil }
            return state.tell
        }
        tell?(ending)
    }

    /// Tells the end to one who asks, in the place of any who asked before; at once if it is known.
    func watch(_ tell: @escaping @Sendable (Ending) -> Void) {
        let ending = state.withLock { state in
            state.tell = state.ending == nil ? tell : nil
            return state.ending
        }
        if let ending { tell(ending) }
    }

    /// Nobody asks for now.
    func unwatch() { state.withLock { $0.tell = nil } }

    /// - Parameter forget: asks the engine no more.
    func onForget(_ forget: @escaping @Sendable () -> Void) {
        state.withLock { if $0.ending == nil { $0.forget = forget } }
    }

    /// Nobody will ask any more.
    func abandon() {
        let forget = state.withLock { state in
            state.tell = nil
            return state.forget.take()
        }
        forget?()
    }
}

extension BinaryStatus {
    /// The status that names a notification which was accepted, and then rejected for good.
    init(rejection reason: Reason) {
        switch reason {
        case .unregistered, .expiredToken, .badDeviceToken, .deviceTokenNotForTopic, .invalidToken, .blacklisted:
            self = .invalidToken
        case .invalidTokenSize: self = .invalidTokenSize
        case .badTopic, .topicDisallowed: self = .invalidTopicSize
        case .payloadEmpty: self = .missingPayload
        case .payloadTooLarge, .payloadNotJSON: self = .invalidPayloadSize
        default: self = .processingError
        }
    }
}
