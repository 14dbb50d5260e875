internal import Holdfast
internal import HoldfastAPNsAnswers

/// The service in whose form a request is answered.
enum AnswerForm: Hashable, Sendable {
    /// Apple's, for a device.
    case device
    /// Apple's, for a channel.
    case broadcast
    /// Google's, for a message to this project.
    case message(project: String)

    /// The route of a request, for traces. Without the token, which is nobody's business.
    var route: String {
        switch self {
        case .device: "/3/device/{token}"
        case .broadcast: "/4/broadcasts/apps/{bundle-id}"
        case .message: "/v1/projects/{project}/messages:send"
        }
    }

    func answer(to refusal: Refusal) -> RefusalAnswer {
        if case .message = self { RefusalAnswer(GoogleError(refusal)) } else { RefusalAnswer(refusal) }
    }

    /// - Returns: nil where the sender is told 200.
    func answer(to outcome: Outcome, entry: BlacklistEntry?) -> RefusalAnswer? {
        guard case .message = self else { return RefusalAnswer(outcome, entry: entry) }
        guard let error = GoogleError(outcome, entry: entry) else { return nil }
        // The sender is told of an end.
        return RefusalAnswer(error, isTemporary: false)
    }

    /// - Returns: nil where the sender is told 200.
    func answer(to outcome: TerminalOutcome) -> RefusalAnswer? {
        guard case .message = self else { return RefusalAnswer(outcome) }
        return GoogleError(outcome).map { RefusalAnswer($0, isTemporary: false) }
    }

    /// Beyond the rate.
    var tooMany: RefusalAnswer {
        answer(to: Refusal(.tooManyRequests, "more came than the limits of its rate and its sender's allow"))
    }
}
