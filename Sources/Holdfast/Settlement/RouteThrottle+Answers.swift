/// What a route was answered in one turn, and what that says of its service.
extension RouteThrottle {
    /// The answers of one turn.
    struct Answers: Hashable, Sendable {
        /// Taken, or refused for a reason of the notification's own.
        var granted = 0
        /// The number of these that were refused before. Counted while the route is throttled.
        var known = 0
        /// Answered 429, or with a Retry-After.
        var throttled = 0
        /// Answered 5xx.
        var unavailable = 0
        /// Without an answer of the service.
        var others = 0
        /// Of those refused, the ones that were never refused before.
        var fresh = 0
        /// Of those refused, the ones of a topic that was tried for the first time: see ``TopicRefusals``.
        var ofOtherTopics = 0
        /// The greatest of them.
        var retryAfter: Duration?

        var refused: Int { throttled + unavailable }

        /// Without refusals of what was refused before.
        var freshAlone: Answers {
            var answers = self
            answers.throttled = min(throttled, fresh)
            answers.unavailable = min(unavailable, fresh - answers.throttled)
            return answers
        }

        var isEmpty: Bool { granted + refused + others == 0 }
    }

    enum Judgement: Hashable, Sendable {
        /// Each refusal is about its own notification.
        case single
        /// The refusals are about the service, and nothing goes out before this time.
        case service(until: Duration)
    }
}
